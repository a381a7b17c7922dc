// The first page of the console: the overview for readers of all pages, the reader's own page for other people.
import type { Console } from "../../../console/console.ts";
import { CONSOLE } from "../../../console/frame/navigation.ts";
import { overviewPage } from "../../../console/overview/overview.tsx";
import { ME_PATH } from "../../../console/own/words.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

/** @returns the routes of the overview */
export const overviewPages = ({ router, overview }: RouteContext, console: Console) =>
  router.get(
    CONSOLE,
    ({ request }) =>
      console.show(request, "anyone", async (reader) => {
        if (!reader.readsAll) return seeOther(ME_PATH);
        const view = await overview.read(reader.organizationId);
        return overviewPage({ view, pages: console.pagesOf(reader) });
      }),
    pageRoute("showOverviewPage", "Whether the installation is in order"),
  );
