// Sessions that a workstation captured and uploaded to a data directory, with the domain in this process, for commands that show
// and remove them.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { sectionOf } from "../../domain/governance/governance-world.ts";
import { announcementOf } from "../content/sessions.ts";
import { type DataInUse, inInstallation } from "./installed-login.ts";

interface Captured {
  sessionId: string;
  uploadId: string;
}

interface Capturing {
  /** address of the user */
  as?: string;
  /** members of the announcement */
  more?: object;
}

/** Announces, uploads and completes as the user, after publishing a policy that asks for captured sessions. */
export const captureOn = (
  place: DataInUse,
  bytes: string,
  { as = "root@example.org", more = {} }: Capturing = {},
): Promise<Captured> =>
  inInstallation(place, async ({ domain, organizationId }) => {
    const { receiving, completion } = domain.sessions;
    const { announced, uploader } = await announce({ domain, organizationId }, bytes, { as, more });
    await receiving.receive(announced, oneByOne(bytes));
    const viewer = { ...uploader, isAdministrator: false };
    await completion.complete(uploader.actor, viewer, announced.id);
    return { sessionId: announced.sessionId, uploadId: announced.id };
  });

/** Announces an upload whose bytes never arrive. */
export const announceOn = (place: DataInUse, bytes: string, more: object): Promise<unknown> =>
  inInstallation(place, (installed) => announce(installed, bytes, { as: "root@example.org", more }));

type Installed = Parameters<Parameters<typeof inInstallation>[1]>[0];

async function announce(
  { domain, organizationId }: Pick<Installed, "domain" | "organizationId">,
  bytes: string,
  { as, more }: Required<Capturing>,
) {
  const { announcements, artifact } = domain.sessions;
  const user = domain.identity.users.find(organizationId, as);
  const actor: Actor = { kind: "user", id: user.id, label: as, organizationId };
  const policy = { session_upload: { presign_url: "https://qm.example.org/session-uploads/presign" } };
  const input = JSON.stringify(sectionOf({ ...policy, allowed_harnesses: ["codex", "claude"] }));
  const section = { input, variables: {}, linesOf: async () => [] };
  await domain.governance.deployments.apply({ ...actor, kind: "operator" }, section);
  const uploader = { actor, userId: user.id, organizationId };
  const { uploadId } = await announcements.presign(
    { ...uploader, actor: () => uploader.actor },
    announcementOf(bytes, more),
  );
  const announced = artifact({ organizationId, id: uploadId });
  if (!announced) throw new Error("the announced upload is unknown");
  return { announced, uploader };
}

async function* oneByOne(bytes: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(bytes);
}

/** Shares a session of the user with the colleagues. */
export const shareOn = (
  place: DataInUse,
  {
    sessionId,
    as = "root@example.org",
    mode,
  }: { sessionId: string; as?: string; mode: "workspace" | "private" },
): Promise<unknown> =>
  inInstallation(place, async ({ domain, organizationId }) => {
    const { id: userId } = domain.identity.users.find(organizationId, as);
    const actor: Actor = { kind: "user", id: userId, label: as, organizationId };
    const viewer = { userId, organizationId, isAdministrator: false };
    return await domain.sessions.sharing.replace(actor, viewer, {
      id: sessionId,
      request: { mode, user_ids: [] },
    });
  });

/** @returns the path of the object with these bytes in the local store */
export function objectPathOf({ data }: Pick<DataInUse, "data">, bytes: string): string {
  const digest = sha256Hex(bytes);
  return join(data, "sessions/sha256", digest.slice(0, 2), digest);
}

/** Creates an old object without a session, as after a restore to before an upload. */
export function leaveObject(place: Pick<DataInUse, "data">): void {
  const text = "bytes that no session names";
  const path = objectPathOf(place, text);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
  utimesSync(path, 0, 0);
}
