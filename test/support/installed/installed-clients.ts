// Workstations that report on a data directory like through the server, with the domain in this process, for commands that list and
// remove them. A running server may use the same directory.
import type { ClientStatusReport, Reporter } from "../../../src/domain/clients/model.ts";
import { insertRevision } from "../../../src/domain/governance/store.ts";
import { documentWith, reportWith } from "../../domain/clients/policies.ts";
import { type DataInUse, inInstallation, logInOn } from "./installed-login.ts";

export type Login = Pick<Reporter, "loginSessionId" | "grantId">;

/** Publishes the policy of documentWith(). @returns the id of the revision */
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
 * Stores reports of root@example.org's workstations.
 * @param login of the reports; a new one by default
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
