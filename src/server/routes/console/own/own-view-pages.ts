// The reader's saved views, and saved columns and rows of lists.
import { type Owner, viewQuery } from "../../../../domain/console/service.ts";
import { type Console, readerPrincipal } from "../../../console/console.ts";
import { USUAL_PATH, VIEWS_PATH, viewAddress } from "../../../console/list/views.tsx";
import { ownViewsPage, removeViewPage } from "../../../console/own/own-views.tsx";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

const Plain = formOf({ csrf: FormField, by: FormField });
const View = formOf({
  csrf: FormField,
  by: FormField,
  path: FormField,
  query: FormField,
  name: FormField,
  shared: FormField,
});
const Usual = formOf({ csrf: FormField, by: FormField, path: FormField, query: FormField, act: FormField });

export function ownViewPages({ router, domain }: RouteContext, console: Console) {
  const { preferences } = domain;
  const ownerOf = (reader: Reader): Owner => ({
    actor: reader.actor,
    userId: readerPrincipal(reader).userId,
    mayShare: reader.mayAdminister,
    readsAll: reader.readsAll,
  });
  const needed = { needs: "anyone", back: VIEWS_PATH } as const;

  return router
    .get(
      VIEWS_PATH,
      ({ request }) =>
        console.show(request, "anyone", (reader) => {
          const { lists } = preferences.of(readerPrincipal(reader).userId);
          const links = console.navigationOf(reader).flatMap((group) => group.links);
          const labels = new Map(links.map(({ href, label }) => [href, label]));
          return ownViewsPage({ views: reader.savedViews(), lists, labels });
        }),
      pageRoute("showSavedViewsPage", "The reader's saved views"),
    )
    .post(
      VIEWS_PATH,
      ({ request, body }) =>
        console.act(request, body, needed, async (reader) => {
          const { path = "", query = "", name = "", shared } = body;
          await preferences.save(ownerOf(reader), { path, query, name, isShared: shared === "1" });
          return { to: viewAddress({ path, query: viewQuery(query) }), notice: "The view is saved." };
        }),
      formRoute(View, formOperation("sendSavedView", "Saves a list with its filters under a name")),
    )
    .post(
      USUAL_PATH,
      ({ request, body }) =>
        console.act(request, body, needed, async (reader) => {
          const { path = "", query = "", act } = body;
          const isKept = act === "keep";
          await preferences.keep(ownerOf(reader), { path, query: isKept ? query : "" });
          return {
            to: path,
            notice: isKept
              ? "The list now always opens with these columns and rows."
              : "The list has its default columns and rows again.",
          };
        }),
      formRoute(Usual, formOperation("sendUsualList", "Saves columns and rows of a list, or resets them")),
    )
    .get(
      `${VIEWS_PATH}/:id/remove`,
      ({ request, params }) =>
        console.show(request, "anyone", (reader) =>
          removeViewPage(
            preferences.find(ownerOf(reader), params.id.toLowerCase()),
            readerPrincipal(reader).email,
          ),
        ),
      pageRoute("showSavedViewRemoval", "Asks before a saved view is removed"),
    )
    .post(
      `${VIEWS_PATH}/:id/remove`,
      ({ request, body, params }) =>
        console.act(request, body, needed, async (reader) => {
          await preferences.remove(ownerOf(reader), params.id.toLowerCase());
          return { to: VIEWS_PATH, notice: "The view is removed." };
        }),
      formRoute(Plain, formOperation("sendSavedViewRemoval", "Removes a saved view")),
    );
}
