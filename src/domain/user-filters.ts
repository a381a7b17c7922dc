// Filters of users by facts of other areas: the groups of an identity provider, and workstations.
import { DomainError, type Problem } from "../platform/errors.ts";
import type { Clients } from "./clients/service.ts";
import type { UserQuery } from "./identity/service.ts";
import type { Scim } from "./scim/service.ts";
import type { UserSet } from "./shared/ordered-rows-store.ts";
import { readWord } from "./shared/page.ts";

/** Value of the filter for users without a workstation. */
export const NO_WORKSTATION = "none";

/** Unchecked filters of users. */
export interface UserFilterQuery {
  /** id, name or external id of a group */
  group?: string | undefined;
  /** NO_WORKSTATION */
  workstations?: string | undefined;
  /** users without a workstation that reported within that many days */
  notSeenForDays?: number | undefined;
}

/** @returns the filters for `users.list`, and their problems, which it reports */
export function readUserFilters(
  { clients, scim }: { clients: Pick<Clients, "inventory">; scim: Pick<Scim, "directory"> },
  { organizationId, ...query }: UserFilterQuery & { organizationId: string },
): Pick<UserQuery, "hasWorkstation" | "sets"> & { problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const words = [NO_WORKSTATION] as const;
  const none = readWord(query.workstations, { name: "workstations", words, problems });
  const group = groupIn(scim, { organizationId, reference: query.group, problems });
  const { notSeenForDays: days } = query;
  const unseen =
    days === undefined ? undefined : clients.inventory.notSeenForDays(organizationId, days, problems);
  return {
    hasWorkstation: none === undefined ? undefined : false,
    sets: [unseen, group].filter((set) => set !== undefined),
    problems,
  };
}

/** @returns the members; an unknown group is a problem of the filter */
function groupIn(
  { directory }: Pick<Scim, "directory">,
  {
    organizationId,
    reference,
    problems,
  }: { organizationId: string; reference: string | undefined; problems: Problem[] },
): UserSet | undefined {
  if (reference === undefined) return undefined;
  try {
    return directory.membersAsSet(directory.show(organizationId, reference).id);
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "not_found") throw error;
    problems.push({ pointer: "/group", detail: error.message });
    return undefined;
  }
}
