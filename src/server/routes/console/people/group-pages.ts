// Groups of the identity provider in the console.
import type { GroupRow } from "../../../../domain/scim/model.ts";
import type { Console } from "../../../console/console.ts";
import { found, lastPageAddress, listValues, placeIn } from "../../../console/list/list.ts";
import { groupListPage, groupPage } from "../../../console/people/group-pages.tsx";
import { GROUPS_PATH } from "../../../console/people/words.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import { createRouter, type RouteContext } from "../../../router.ts";

/** @returns the pages of groups */
export function groupPages({ guard, domain }: RouteContext, console: Console) {
  const { directory, roles } = domain.scim;
  const withRole = (group: GroupRow) => ({ ...group, role: roles.roleOf(group) });

  return createRouter(guard, "console-groups")
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
