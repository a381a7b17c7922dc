// The list of users in the console, and its CSV file.

import type { UserQuery } from "../../../../domain/identity/directory/user-directory.ts";
import type { User } from "../../../../domain/identity/model.ts";
import { readWord, refuseProblems, WALK_PAGE_MAX } from "../../../../domain/shared/page.ts";
import { readUserFilters } from "../../../../domain/user-filters.ts";
import type { Problem } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { csvRoute, walkPages } from "../../../console/list/csv.ts";
import { found, lastPageAddress, listValues, placeIn, type Values } from "../../../console/list/list.ts";
import {
  type ListedUser,
  NOT_SEEN_DAYS,
  userColumns,
  userListPage,
} from "../../../console/people/user-list.tsx";
import { USERS_PATH } from "../../../console/people/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";

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
          return exportResponse(domain, reader, { list: "users", columns: userColumns(hasGateway), pages });
        }),
      csvRoute("downloadUsers", "Users as a CSV file"),
    );
}

interface WantedUsers {
  query: UserQuery;
  /** problems of filters that the domain does not check */
  problems: readonly Problem[];
}

/** @returns a function that reads the filters of an address */
export const createUserQuery =
  (domain: Pick<RouteContext["domain"], "clients" | "scim">) =>
  (values: Values, { organizationId }: Pick<Reader, "organizationId">): WantedUsers => {
    const wrong: Problem[] = [];
    const { q, role, status, provisioning_source: provisioningSource, group, workstations } = values;
    const days = readWord(values.not_seen, { name: "not_seen", words: NOT_SEEN_DAYS, problems: wrong });
    const notSeenForDays = days === undefined ? undefined : Number(days);
    const more = { group, workstations, notSeenForDays };
    const { problems, ...others } = readUserFilters(domain, { organizationId, ...more });
    const query = { q, role, status, provisioningSource, ...others };
    return { query, problems: [...wrong, ...problems] };
  };
