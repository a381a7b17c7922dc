// The first page of the console: the overview for readers of all pages, and the reader's own page for other people.
// Also the events that keep pages current.
import { Type } from "@sinclair/typebox";
import { type Console, readerPrincipal } from "../../../console/console.ts";
import { CONSOLE } from "../../../console/frame/navigation.ts";
import { overviewPage } from "../../../console/overview/overview.tsx";
import { ME_PATH } from "../../../console/own/words.ts";
import { eventStream } from "../../../http/responses.ts";
import { operation } from "../../../openapi.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

const eventsOperation = operation(
  "streamConsoleEvents",
  "The events of administrators, for pages in a browser",
  {
    tags: ["Console"],
    answers: {
      200: {
        description: "The same as `GET /admin/events`",
        schema: Type.String(),
        mediaType: "text/event-stream",
      },
      303: { description: "Nobody is signed in" },
      403: { description: "Only administrators and auditors read these pages" },
      429: { description: "The login or its user has too many streams open" },
      503: { description: "Too many streams are open, or the service is stopping" },
    },
  },
);

export const overviewPages = ({ router, overview, adminEvents }: RouteContext, console: Console) =>
  router
    .get(
      CONSOLE,
      ({ request }) =>
        console.show(request, "anyone", async (reader) => {
          if (!reader.readsAll) return seeOther(ME_PATH);
          const view = await overview.read(reader.organizationId);
          return overviewPage({ view, pages: console.pagesOf(reader) });
        }),
      pageRoute("showOverviewPage", "Problems and newest changes of the installation"),
    )
    .get(
      `${CONSOLE}/events`,
      // Auditors read the same pages, but are not administrators for the API.
      ({ request }) =>
        console.show(request, "administrator", (reader) =>
          eventStream(adminEvents.open(readerPrincipal(reader))),
        ),
      { requires: "nobody", detail: eventsOperation },
    );
