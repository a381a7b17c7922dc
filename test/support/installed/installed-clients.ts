// Workstations that report on a data directory as through the server, by the domain in this process: what the command line
// then lists and removals off. The same directory may be in use by a running server.
import type { ClientStatusReport, Reporter } from "../../../src/domain/clients/model.ts";
import { insertRevision } from "../../../src/domain/governance/store.ts";
import { documentWith, reportWith } from "../../domain/clients/policies.ts";
import { type DataInUse, inInstallation, logInOn } from "./installed-login.ts";

export type Login = Pick<Reporter, "loginSessionId" | "grantId">;

/** Puts the policy of documentWith() in force. @returns the id of the revision */
export const publishOn = (place: DataInUse): Promise<string> =>
  inInstallation(place, async ({ db, organizationId }) => {
    const id = place.ids.uuid();
    const author = { origin: "operator" as const, authorId: null, authorLabel: "test", comment: null };
    const revision = { id, organizationId, audiences: {}, ...author, createdAtMs: place.clock.nowMs() };
    await db.write((tx) => {
      insertRevision(tx, { ...revision, document: documentWith({ revision: id }) });
    }, "governance");
    return id;
  });

/**
 * Takes reports of root@example.org's workstations.
 * @param login by which they come; a new one when left out
 */
export async function reportOn(
  place: DataInUse,
  reports: readonly Partial<ClientStatusReport>[],
  login?: Login,
): Promise<Login> {
  const { loginSessionId, grantId } = login ?? (await logInOn(place));
  await inInstallation(place, async ({ domain, organizationId }) => {
    const { id: userId } = domain.identity.users.find(organizationId, "root@example.org");
    const reporter = { userId, organizationId, loginSessionId, grantId };
    for (const members of reports) await domain.clients.report(reporter, reportWith(members));
  });
  return { loginSessionId, grantId };
}
