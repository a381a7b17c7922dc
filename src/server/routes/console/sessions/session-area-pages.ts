// All routes about captured sessions.
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { sessionListPages } from "./session-list-pages.ts";
import { sessionPages } from "./session-pages.ts";
import { sharePages } from "./share-pages.ts";
import { transcriptPages } from "./transcript-pages.ts";

/** Adds the pages that everybody may open, each with what the reader may see. */
export function sessionAreaPages(context: RouteContext, console: Console): void {
  sessionListPages(context, console);
  sessionPages(context, console);
  sharePages(context, console);
  transcriptPages(context, console);
}
