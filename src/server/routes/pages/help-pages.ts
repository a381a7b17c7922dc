// The handbook as pages. They describe the product, not this installation, so they are public.
import { Type } from "@sinclair/typebox";
import { CHAPTERS } from "../../../handbook/contents.ts";
import { type PreparedResponse, prepareResponse, respondConditionally } from "../../http/conditional.ts";
import { HttpError } from "../../http/problems/problem.ts";
import { contentSecurityPolicy } from "../../pages/assets.ts";
import { chapterPage, contentsPage, HELP_PATH } from "../../pages/help.tsx";
import { pageOperation, pageRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

export const NAME_CHARACTERS_MAX = 64;
const HEADERS = {
  contentType: "text/html; charset=utf-8",
  cacheControl: "no-cache",
  others: { "content-security-policy": contentSecurityPolicy },
};

/** @returns the pages; each is rendered once, at its first request, because the content is part of the program */
export function helpPages({ router }: RouteContext) {
  const kept = new Map<string, PreparedResponse>();
  const answer = (request: Request, name: string, make: () => string | undefined): Response => {
    const html = kept.has(name) ? undefined : make();
    if (html !== undefined) kept.set(name, prepareResponse(Buffer.from(html), HEADERS));
    const prepared = kept.get(name);
    if (prepared === undefined) throw noChapter();
    return respondConditionally(request, prepared);
  };
  return router
    .get(
      HELP_PATH,
      ({ request }) => answer(request, "", contentsPage),
      pageRoute("showHandbook", "Lists the chapters of the handbook"),
    )
    .get(
      `${HELP_PATH}/:chapter`,
      ({ request, params }) => answer(request, params.chapter, () => chapterPage(params.chapter)),
      {
        requires: "nobody",
        params: Type.Object({ chapter: Type.String({ maxLength: NAME_CHARACTERS_MAX }) }),
        detail: pageOperation("showHandbookChapter", "Shows one chapter of the handbook"),
      },
    );
}

const noChapter = (): HttpError =>
  new HttpError(
    404,
    "handbook.not_found",
    `no such chapter; the handbook has ${CHAPTERS.map(({ name }) => name).join(", ")}`,
  );
