// Reads the data for the page of one workstation: its report, the policy of its user, its login, and what depends on that login.
import type { LoginView } from "../../../domain/access/logins/logins.ts";
import type { ClientView } from "../../../domain/clients/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import { parseVersion } from "../../../domain/shared/exact-version.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Reader } from "../../console/reader.ts";
import type { ShownClient } from "../../console/workstations/client-page.tsx";
import { comparisonOf, type Explain } from "../../console/workstations/comparison.ts";

/** @throws DomainError `client.not_found` */
export async function shownClient(
  domain: Domain,
  { organizationId, mayAdminister }: Reader,
  id: string,
): Promise<ShownClient> {
  const { inventory } = domain.clients;
  const client = inventory.byId(organizationId, id);
  return {
    client,
    sequence:
      client.configRevision === null
        ? undefined
        : domain.governance.revisions.find(organizationId, client.configRevision)?.sequence,
    current: domain.governance.revisions.current(organizationId),
    comparison: comparisonOf(client, await explainTo(domain, client)),
    login: loginOf(domain, client),
    companions: inventory.companions(client),
    mayAdminister,
  };
}

/** Harnesses and versions come from the report, so they may be unknown. Before the first policy, there is nothing to explain. */
async function explainTo({ governance }: Domain, { organizationId, userId }: ClientView): Promise<Explain> {
  if (!governance.revisions.current(organizationId)) return () => undefined;
  const explain = await governance.explainer({ organizationId });
  return (harness, reported) => {
    const version = parseVersion(reported) ? reported : undefined;
    return orUndefined(() => explain({ userId, harness, version }));
  };
}

const loginOf = ({ access }: Domain, { grantId, loginSessionId }: ClientView): LoginView | undefined =>
  orUndefined(() => access.logins.show(grantId ?? loginSessionId));

/** @returns undefined for things that do not exist */
function orUndefined<Value>(find: () => Value): Value | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
