// Pages about groups of the identity provider.
import type { GroupRow } from "../../../../domain/scim/model.ts";
import { WALK_PAGE_MAX } from "../../../../domain/shared/page.ts";
import type { Console } from "../../../console/console.ts";
import { csvRoute, walkPages } from "../../../console/list/csv.ts";
import { found, lastPageAddress, listValues, placeIn } from "../../../console/list/list.ts";
import {
  GROUP_COLUMNS,
  groupListPage,
  groupPage,
  type ListedGroup,
} from "../../../console/people/group-pages.tsx";
import { GROUPS_PATH } from "../../../console/people/words.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";

export function groupPages({ router, domain }: RouteContext, console: Console) {
  const { directory, roles } = domain.scim;
  const withRole = (group: GroupRow) => ({ ...group, role: roles.roleOf(group) });

  return router
    .get(
      GROUPS_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { organizationId } = reader;
          const values = listValues(reader);
          const wanted = { q: values.q, ...placeIn(values) };
          const { rows, problems } = await found(() => directory.list(organizationId, wanted));
          const last = rows && lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          const page = rows && { ...rows, items: rows.items.map(withRole) };
          return groupListPage({ values, page, problems, warnings: roles.warnings(organizationId) });
        }),
      pageRoute("showGroupsPage", "Groups of the identity provider as a list"),
    )
    .get(
      `${GROUPS_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { q } = listValues(reader);
          const walk = { q, perPage: WALK_PAGE_MAX, isWalk: true, known: 0 };
          const pages = await walkPages<ListedGroup>(async (after) =>
            directory.list(reader.organizationId, { ...walk, after }).items.map(withRole),
          );
          return exportResponse(domain, reader, { list: "groups", columns: GROUP_COLUMNS, pages });
        }),
      csvRoute("downloadGroups", "Groups as a CSV file"),
    )
    .get(
      `${GROUPS_PATH}/:id`,
      ({ request, params }) =>
        console.show(request, "administrator", async (reader) => {
          const group = withRole(directory.show(reader.organizationId, params.id));
          const wanted = placeIn(listValues(reader));
          const { rows, problems } = await found(() => directory.members(group.id, wanted));
          const last = rows && lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          return groupPage({ group, members: rows, problems });
        }),
      pageRoute("showGroupPage", "One group and its members"),
    );
}
