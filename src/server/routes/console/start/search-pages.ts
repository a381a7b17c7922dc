// Search over pages, actions and everything that has a name; the command palette reads the same page. The page of keys.
import { type Console, readerPrincipal } from "../../../console/console.ts";
import { CONSOLE } from "../../../console/frame/navigation.ts";
import { found, listValues } from "../../../console/list/list.ts";
import { viewAddress } from "../../../console/list/views.tsx";
import { visibleText } from "../../../console/parts/texts.ts";
import { keysPage } from "../../../console/search/keys.tsx";
import { placesLike } from "../../../console/search/places.ts";
import { searchPage } from "../../../console/search/search.tsx";
import { pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

export const searchPages = ({ router, search, spendSearch }: RouteContext, console: Console) =>
  router
    .get(
      `${CONSOLE}/search`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { q } = listValues(reader);
          spendSearch(readerPrincipal(reader));
          const { rows: result, problems } = await found(() => search(reader.organizationId, q));
          const pages = console.pagesOf(reader);
          const views = reader.savedViews().map((view) => ({
            href: viewAddress(view),
            label: visibleText(view.name),
            detail: "Saved view",
          }));
          return searchPage({
            q,
            places: placesLike(q, console.navigationOf(reader), views),
            result,
            problems,
            pages,
          });
        }),
      pageRoute("showSearchPage", "Finds pages, actions and everything that has a name"),
    )
    .get(
      `${CONSOLE}/help/keys`,
      ({ request }) => console.show(request, "anyone", (reader) => keysPage(reader, console.pagesOf(reader))),
      pageRoute("showKeysPage", "The keys of the console, and the switch for single letters"),
    );
