// All routes about captured sessions.
import { Elysia } from "elysia";
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { sessionListPages } from "./session-list-pages.ts";
import { sessionPages } from "./session-pages.ts";
import { sharePages } from "./share-pages.ts";
import { transcriptPages } from "./transcript-pages.ts";

/** @returns the pages that everybody may open, each with what the reader may see */
export const sessionAreaPages = (context: RouteContext, console: Console) =>
  new Elysia({ name: "routes/console-sessions" })
    .use(sessionListPages(context, console))
    .use(sessionPages(context, console))
    .use(sharePages(context, console))
    .use(transcriptPages(context, console));
