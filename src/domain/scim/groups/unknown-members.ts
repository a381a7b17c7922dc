// Errors about ids in member lists that are not users.
import type { Connection } from "../../../platform/database/database.ts";
import { type ScimError, scimInvalid } from "../errors.ts";
import { findGroups } from "./members-store.ts";

/** maximum number of unknown members in one error */
export const NAMED_MAX = 10;
/** our ids have 36 characters */
const SHOWN_CHARACTERS_MAX = 64;

/** @param unknown the first NAMED_MAX ids that are not users @returns the error, which names groups separately */
export function unknownMembers(
  connection: Connection,
  { organizationId, ids }: { organizationId: string; ids: readonly string[] },
): ScimError {
  const groups = findGroups(connection, { organizationId, ids });
  const problem =
    groups.length > 0
      ? `nesting is not supported, and these are groups: ${shown(groups)}; send the ids of their users`
      : `no user has these ids: ${shown(ids)}; create the users first, then send their ids`;
  return scimInvalid("invalidValue", `members: ${problem}`);
}

const shown = (ids: readonly string[]): string =>
  ids.map((id) => JSON.stringify(id.slice(0, SHOWN_CHARACTERS_MAX))).join(", ");
