// The list of users in the console, and its CSV file.

import type { UserQuery } from "../../../../domain/identity/directory/user-directory.ts";
import type { User } from "../../../../domain/identity/model.ts";
import { readWord, refuseProblems, WALK_PAGE_MAX } from "../../../../domain/shared/page.ts";
import { DAY_MS } from "../../../../platform/clock.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { csvRoute, walkPages } from "../../../console/list/csv.ts";
import { found, lastPageAddress, listValues, placeIn, type Values } from "../../../console/list/list.ts";
import {
  type ListedUser,
  NO_WORKSTATION,
  NOT_SEEN_DAYS,
  userColumns,
  userListPage,
} from "../../../console/people/user-list.tsx";
import { USERS_PATH } from "../../../console/people/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { exportAnswer } from "../lists/list-export.ts";

export function userListPages({ router, domain }: RouteContext, console: Console) {
  const { users } = domain.identity;
  const hasGateway = domain.gateway.mode !== undefined;
  const queryOf = createUserQuery(domain);

  const withFigures = ({ organizationId }: Reader, items: readonly User[]): ListedUser[] => {
    const ids = items.map(({ id }) => id);
    const figures = domain.clients.inventory.ofUsers(organizationId, ids);
    const keys = hasGateway ? domain.gateway.directory.statesOf(ids) : undefined;
    return items.map((user) => ({
      ...user,
      ...(figures.get(user.id) ?? { workstations: 0, lastSeenAtMs: null }),
      key: keys?.get(user.id) ?? "missing",
    }));
  };

  return router
    .get(
      USERS_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const values = listValues(reader);
          const { query, problems: wrongFilters } = queryOf(values, reader);
          const wanted = { ...query, ...placeIn(values) };
          const { rows, problems } = await found(
            () => runInTurns(users.listInSteps(reader.organizationId, wanted)),
            wrongFilters,
          );
          const last = rows && lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          const page = rows && { ...rows, items: withFigures(reader, rows.items) };
          const { mayAdminister } = reader;
          return userListPage({ values, page, problems, hasGateway, mayAdminister });
        }),
      pageRoute("showUsersPage", "Users as a list"),
    )
    .get(
      `${USERS_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { query, problems } = queryOf(listValues(reader), reader);
          refuseProblems("users.invalid", problems);
          const walk = { ...query, perPage: WALK_PAGE_MAX, isWalk: true, known: 0 };
          const pages = await walkPages<ListedUser>(async (after) => {
            const page = users.listInSteps(reader.organizationId, { ...walk, after });
            return withFigures(reader, (await runInTurns(page)).items);
          });
          return exportAnswer(domain, reader, { list: "users", columns: userColumns(hasGateway), pages });
        }),
      csvRoute("downloadUsers", "Users as a CSV file"),
    );
}

interface WantedUsers {
  query: UserQuery;
  /** of filters that the domain does not check */
  problems: readonly Problem[];
}

/** @returns a function that reads the filters of an address */
export const createUserQuery =
  ({ clients, scim }: Pick<RouteContext["domain"], "clients" | "scim">) =>
  (values: Values, { organizationId, nowMs }: Pick<Reader, "organizationId" | "nowMs">): WantedUsers => {
    const problems: Problem[] = [];
    const words = [NO_WORKSTATION] as const;
    const none = readWord(values.workstations, { name: "workstations", words, problems });
    const days = readWord(values.not_seen, { name: "not_seen", words: NOT_SEEN_DAYS, problems });
    const groupId = groupIn(
      values.group,
      (reference) => scim.directory.show(organizationId, reference).id,
      problems,
    );
    const beforeMs = nowMs - Number(days) * DAY_MS;
    const sets = [
      ...(days === undefined ? [] : [clients.inventory.notSeenSince(organizationId, beforeMs)]),
      ...(groupId === undefined ? [] : [scim.directory.membersAsSet(groupId)]),
    ];
    const hasWorkstation = none === undefined ? undefined : false;
    const { q, role, status, provisioning_source: provisioningSource } = values;
    return { query: { q, role, status, provisioningSource, hasWorkstation, sets }, problems };
  };

/** @returns the id of the group; a group that does not exist is a problem of the filter */
function groupIn(
  reference: string | undefined,
  find: (reference: string) => string,
  problems: Problem[],
): string | undefined {
  if (reference === undefined) return undefined;
  try {
    return find(reference);
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "not_found") throw error;
    problems.push({ pointer: "/group", detail: error.message });
    return undefined;
  }
}
