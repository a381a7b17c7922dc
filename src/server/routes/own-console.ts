// The caller's saved settings of the console: views, and columns and rows of lists.
import { type Static, Type } from "@sinclair/typebox";
import {
  isAuditor,
  LISTS_MAX,
  NAME_LENGTH_MAX,
  type Owner,
  QUERY_LENGTH_MAX,
  type SavedView,
  VIEWS_MAX,
} from "../../domain/console/service.ts";
import { actorOf, principalOf } from "../http/exchange.ts";
import { Uuid } from "../http/paging.ts";
import { json, noContent } from "../http/responses.ts";
import { operationsOf } from "../openapi.ts";
import type { RouteContext } from "../router.ts";

const address = {
  path: Type.String({ maxLength: 300, description: "path of a list, such as `/console/users`" }),
  query: Type.String({
    maxLength: 2 * QUERY_LENGTH_MAX,
    description: "parameters of the list without `?` and without the position",
  }),
};

const View = Type.Object(
  {
    name: Type.String({ maxLength: 4 * NAME_LENGTH_MAX, description: "unique among the views of the list" }),
    ...address,
    shared: Type.Boolean({ description: "shown to all administrators; only administrators may do so" }),
  },
  { additionalProperties: false },
);
const KeptView = Type.Object({ id: Uuid, ...View.properties });
const PutView = Type.Object(
  {
    id: Type.Optional(Uuid),
    ...View.properties,
  },
  {
    additionalProperties: false,
    description: "A view with the id, or the list and name, of a saved view replaces it and keeps its id",
  },
);
const ViewPath = Type.Object({ id: Uuid });
const List = Type.Object(address, {
  additionalProperties: false,
  description: "saved columns and rows of a list",
});

const Preferences = Type.Object(
  {
    views: Type.Array(PutView, { maxItems: VIEWS_MAX }),
    lists: Type.Array(List, { maxItems: LISTS_MAX }),
  },
  { additionalProperties: false },
);
const Kept = Type.Object({
  views: Type.Array(KeptView, { maxItems: VIEWS_MAX }),
  lists: Preferences.properties.lists,
  shared: Type.Array(View, { description: "views that others share with all administrators" }),
});

const describe = operationsOf("Own account");
const described = {
  get: describe("getOwnConsole", "Saved views and lists of the caller", {
    200: { description: "The saved views and lists", schema: Kept },
  }),
  save: describe("saveOwnView", "Save a view; it replaces a view of the same list and name", {
    200: { description: "The saved views and lists after the change", schema: Kept },
    400: {
      description: "The name or the address is not allowed, or the caller has the maximum number of views",
    },
    403: { description: "The view is shared by a user who is not an administrator" },
  }),
  remove: describe("removeOwnView", "Remove a view; its list and rows stay", {
    204: { description: "The view is removed" },
    404: { description: "The caller has no such view" },
  }),
  keep: describe("saveOwnList", "Save the columns and rows of a list; without any, restore its defaults", {
    200: { description: "The saved views and lists after the change", schema: Kept },
    400: { description: "The address is not allowed, or the caller has the maximum number of lists" },
  }),
  put: describe("replaceOwnConsole", "Replace saved views and lists of the caller", {
    200: { description: "The saved views and lists after the change", schema: Kept },
    400: { description: "A name or an address is not allowed" },
    403: { description: "A view is shared by a user who is not an administrator" },
  }),
};

export function ownConsoleRoutes(context: RouteContext) {
  const { router, domain } = context;
  const { preferences } = domain;

  const keptOf = (request: Request): Static<typeof Kept> => {
    const { organizationId, userId, role } = principalOf(request);
    const { views, lists } = preferences.of(userId);
    const shared = role === "admin" ? preferences.sharedByOthers(organizationId, userId) : [];
    return { views: views.map(toKeptView), lists: [...lists], shared: shared.map(toView) };
  };

  const ownerOf = (request: Request): Owner => {
    const principal = principalOf(request);
    const isAdministrator = principal.role === "admin";
    const audits = isAuditor(context.consoleAuditors?.() ?? [], principal);
    return {
      actor: actorOf(request),
      userId: principal.userId,
      mayShare: isAdministrator && !audits,
      readsAll: isAdministrator || audits,
    };
  };

  return router
    .get("/me/console", ({ request }) => json(keptOf(request)), {
      requires: "governance:read",
      detail: described.get,
    })
    .put(
      "/me/console",
      async ({ request, body }) => {
        const views = body.views.map(({ id, shared: isShared, ...view }) => ({
          ...view,
          id: id?.toLowerCase(),
          isShared,
        }));
        await preferences.replace(ownerOf(request), { views, lists: body.lists });
        return json(keptOf(request));
      },
      { requires: "governance:read", accepts: "json", body: Preferences, detail: described.put },
    )
    .post(
      "/me/console/views",
      async ({ request, body: { shared: isShared, ...view } }) => {
        await preferences.save(ownerOf(request), { ...view, isShared });
        return json(keptOf(request));
      },
      { requires: "governance:read", accepts: "json", body: View, detail: described.save },
    )
    .delete(
      "/me/console/views/:id",
      async ({ request, params }) => {
        await preferences.remove(ownerOf(request), params.id.toLowerCase());
        return noContent();
      },
      { requires: "governance:read", accepts: "nothing", params: ViewPath, detail: described.remove },
    )
    .post(
      "/me/console/lists",
      async ({ request, body }) => {
        await preferences.keep(ownerOf(request), body);
        return json(keptOf(request));
      },
      { requires: "governance:read", accepts: "json", body: List, detail: described.keep },
    );
}

const toKeptView = (view: SavedView): Static<typeof KeptView> => ({ id: view.id, ...toView(view) });

const toView = ({ name, path, query, isShared: shared }: SavedView): Static<typeof View> => ({
  name,
  path,
  query,
  shared,
});
