// Routes that every page of the console uses: its browser files, and the choice of colors.
import { Type } from "@sinclair/typebox";
import { readOwnPath } from "../../auth/own-path.ts";
import { findAsset } from "../../console/assets/assets.ts";
import type { Console } from "../../console/console.ts";
import { CONSOLE, CONSOLE_ASSETS_PATH } from "../../console/frame/navigation.ts";
import { LABELS_PATH, labelSheet } from "../../console/list/labels.ts";
import { THEME_COOKIE, THEMES } from "../../console/reader.ts";
import { respondConditionally } from "../../http/conditional.ts";
import { HttpError } from "../../http/problems/problem.ts";
import { operation } from "../../openapi.ts";
import { FormField, formOf, formOperation, formRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

/** Names of browser files are short. */
const ASSET_NAME_LENGTH = 128;
const THEME_SECONDS = 34_560_000; // 400 days, the longest that browsers keep a cookie

const assetOperation = operation("getConsoleAsset", "Script or style sheet of the console", {
  tags: ["Console"],
  answers: {
    200: {
      description: "The file, which never changes",
      schema: Type.String(),
      mediaType: "text/javascript",
    },
    404: { description: "This version has no such file" },
  },
});

/** Cached for a limited time, because a later version may label cards differently. */
const LABELS_HEADERS = {
  "content-type": "text/css; charset=utf-8",
  "cache-control": "public, max-age=3600",
};

const labelsOperation = operation("getConsoleLabels", "Style sheet that labels the cards of a list", {
  tags: ["Console"],
  answers: {
    200: { description: "The labels of the columns", schema: Type.String(), mediaType: "text/css" },
    400: { description: "The labels cannot be used" },
  },
});

export function framePages({ router, baseUrl }: RouteContext, console: Console) {
  const themeCookie = (theme: string): string =>
    new Bun.Cookie(THEME_COOKIE, theme, {
      path: "/",
      sameSite: "lax",
      secure: baseUrl().startsWith("https:"),
      maxAge: theme === "" ? 0 : THEME_SECONDS,
    }).serialize();

  return router
    .get(
      `${CONSOLE_ASSETS_PATH}/:name`,
      ({ request, params }) => {
        const asset = findAsset(request, params.name);
        if (!asset)
          throw new HttpError(404, "console.no_asset", "this version of the service has no such file");
        return respondConditionally(request, asset);
      },
      {
        requires: "nobody",
        params: Type.Object({ name: Type.String({ maxLength: ASSET_NAME_LENGTH }) }),
        detail: assetOperation,
      },
    )
    .get(
      LABELS_PATH,
      ({ query }) => {
        const sheet = labelSheet(query.columns ?? "");
        if ("problem" in sheet)
          throw new HttpError(400, "console.invalid", "the labels cannot be used", {
            problems: [sheet.problem],
          });
        return new Response(sheet.css, { headers: LABELS_HEADERS });
      },
      {
        requires: "nobody",
        query: Type.Object({ columns: Type.Optional(Type.String()) }),
        detail: labelsOperation,
      },
    )
    .post(
      `${CONSOLE}/theme`,
      ({ request, body }) =>
        console.act(request, body, { needs: "anyone", back: CONSOLE }, () => {
          const theme = THEMES.find((word) => word === body.theme) ?? "";
          return { to: readOwnPath(body.next) ?? CONSOLE, cookies: [themeCookie(theme)] };
        }),
      formRoute(
        formOf({ csrf: FormField, next: FormField, theme: FormField }),
        formOperation("sendTheme", "Chooses light or dark colors for this browser"),
      ),
    );
}
