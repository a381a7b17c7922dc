// `sessions verify`: checks the digest of every stored object, and records which are lost.
import type { Damage } from "../../../src/domain/sessions/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { startProgress } from "../../output/progress.ts";
import type { Column } from "../../output/table.ts";

const COLUMNS: readonly Column<Damage>[] = [
  { header: "SESSION", value: ({ artifact }) => artifact.sessionId, isWhole: true },
  { header: "FAULT", value: ({ fault }) => fault },
  { header: "STATUS", value: ({ artifact }) => artifact.status },
  { header: "SIZE", value: ({ artifact }) => bytesText(artifact.sizeBytes) },
  { header: "STORE", value: ({ artifact }) => artifact.store },
  { header: "VERSION", value: ({ artifact }) => artifact.id, isWide: true },
  { header: "SHA256", value: ({ artifact }) => artifact.sha256, isWide: true },
];

const VERIFIED_STATES = new Set(["complete", "superseded"]);

/** @throws DomainError `sessions.damaged` after the report that lists them, `sessions.store_unavailable` */
export async function verify(call: Call): Promise<void> {
  const { output } = call;
  const isDryRun = call.has("dryRun");
  const { artifacts, bytes, damaged, lost, recovered } = await readAll(call, isDryRun);
  const totals = { checked: artifacts, bytes, lost, recovered, dry_run: isDryRun };
  const whole = recovered === 0 ? "" : `; ${countText(recovered, "version")} no longer lost`;
  if (damaged.length === 0)
    return output.result(
      { items: [], ...totals },
      `${countText(artifacts, "version")} intact, ${bytesText(bytes)}${whole}`,
    );
  output.list(damaged, { columns: COLUMNS, json: damageDocument, empty: "" }, totals);
  const message = `${damaged.length} of ${countText(artifacts, "version")} damaged or missing${whole}`;
  throw new DomainError("unverified", "sessions.damaged", message, {
    hint: isDryRun
      ? "without --dry-run, their downloads will answer 410, and workstations that announce them will upload the bytes again"
      : "their downloads answer 410; the next upload of a session restores it, and `quartermaster sessions remove` removes it",
  });
}

async function readAll({ domain, actor, context }: Call, isDryRun: boolean) {
  const { totals, verification } = domain.sessions;
  const kept = totals().filter(({ state }) => VERIFIED_STATES.has(state));
  const total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  using progress = startProgress(context, { label: "verifying captured sessions", unit: "bytes", total });
  const reading = {
    signal: context.stopSignal(),
    advance: (bytes: number) => progress.advance(bytes),
  };
  return isDryRun
    ? await verification.check(actor.organizationId, reading)
    : await verification.run(actor, reading);
}

const damageDocument = ({ artifact, fault }: Damage) => ({
  session_id: artifact.sessionId,
  artifact_id: artifact.id,
  fault,
  status: artifact.status,
  size_bytes: artifact.sizeBytes,
  store: artifact.store,
  sha256: artifact.sha256,
});
