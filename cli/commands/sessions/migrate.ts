// `sessions migrate`: moves the bytes of captured sessions to another store.
import type { Unmoved } from "../../../src/domain/sessions/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { startProgress } from "../../output/progress.ts";
import { STORE_KINDS } from "./store-kinds.ts";

/** Requirement SES-38. @throws DomainError `sessions.damaged` after the report if versions stay behind */
export async function migrate(call: Call): Promise<void> {
  const { domain, actor, output, context, command, text } = call;
  const { moving, stores } = domain.sessions;
  const to = STORE_KINDS.find((kind) => kind === text("to")) ?? stores.active.kind;
  stores.of(to); // refuses a store that is not configured
  const { objects, bytes } = moving.elsewhere(actor.organizationId, to);
  if (objects === 0)
    return output.result({ changed: false, versions: 0, bytes: 0 }, `unchanged: every version is in ${to}`);
  const details = [
    `They take ${bytesText(bytes)}. The service may keep running.`,
    ...(stores.active.kind === to ? [] : [`New uploads still go to ${stores.active.kind}: see blobs.store.`]),
  ];
  const action = `move ${countText(objects, "version")} to the store ${to}`;
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const moved = await moveAll(call, { to, bytes });
  const done = { changed: moved.objects > 0, versions: moved.objects, bytes: moved.bytes };
  output.result(done, `moved ${countText(moved.objects, "version")}, ${bytesText(moved.bytes)}`);
  if (moved.unmoved.length > 0) throw damaged(moved.unmoved);
}

async function moveAll(
  { domain, actor, context }: Call,
  { to, bytes: total }: { to: (typeof STORE_KINDS)[number]; bytes: number },
) {
  using progress = startProgress(context, { label: "moving captured sessions", unit: "bytes", total });
  return await domain.sessions.moving.run(actor, {
    to,
    signal: context.stopSignal(),
    advance: (bytes) => progress.advance(bytes),
  });
}

const damaged = (unmoved: readonly Unmoved[]): DomainError =>
  new DomainError(
    "unverified",
    "sessions.damaged",
    `${countText(unmoved.length, "version")} damaged or missing, not moved`,
    {
      hint: "list them: quartermaster sessions verify",
    },
  );
