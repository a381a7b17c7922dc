// Responses for browsers: pages with their headers, and the redirect after a form.

import { type TSchema, Type } from "@sinclair/typebox";
import { BULK_ROWS_MAX } from "../../domain/shared/bulk.ts";
import { CALLBACK_PATH } from "../../domain/sso/service.ts";
import { noteRefusal } from "../http/exchange.ts";
import { type Failure, failureOf } from "../http/problems/problem.ts";
import { operation } from "../openapi.ts";
import { contentSecurityPolicy, scriptedContentSecurityPolicy } from "./assets.ts";
import { errorPage } from "./error.tsx";
import type { Branding } from "./layout.tsx";

interface PageOptions {
  status?: number | undefined;
  /** the page takes its status and headers */
  failure?: Failure | undefined;
  /** values of Set-Cookie */
  cookies?: readonly string[];
  /** whether the page loads the passkey script */
  isScripted?: boolean;
}

/** @returns the page with the content security policy and no-store, because it shows one user's state */
export function page(
  html: string,
  { failure, status = failure?.status ?? 200, cookies = [], isScripted = false }: PageOptions = {},
): Response {
  return new Response(html, {
    status,
    headers: withCookies(cookies, {
      ...failure?.headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": isScripted ? scriptedContentSecurityPolicy : contentSecurityPolicy,
      "cache-control": "no-store",
    }),
  });
}

/**
 * @param path on this origin
 * @returns 303, so that a reload never resubmits the form
 */
export const seeOther = (path: string, cookies: readonly string[] = []): Response =>
  new Response(null, {
    status: 303,
    headers: withCookies(cookies, { location: path, "cache-control": "no-store" }),
  });

/** @returns the path of the sign-in page that continues to `next` */
export const signInPath = (next: string): string => `/login?callbackURL=${encodeURIComponent(next)}`;

/**
 * @param next own path to continue to
 * @returns the path of the sign-in page without an automatic redirect to the provider, for use after signing out and
 * after an error
 */
export const chooseSignInPath = (next?: string): string =>
  next === undefined ? "/login?choose=1" : `${signInPath(next)}&choose=1`;

function withCookies(cookies: readonly string[], fields: Record<string, string>): Headers {
  const headers = new Headers(fields);
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return headers;
}

const TITLES: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Page not found",
  405: "Method not allowed",
  408: "Request timed out",
  409: "Not possible now",
  413: "Request too large",
  429: "Too many attempts",
};

/** Statuses after which a second attempt may succeed. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Paths of the forms of actions on many rows. */
const ACTION_PATH = /^(\/console\/.+)\/action$/;

interface LargeForm {
  title: string;
  detail: string;
  nextStep: { text: string; path: string };
}

/**
 * Explains that a form of the console was too large to be read.
 * @returns the text and link of the page; undefined for any other failure
 */
function largeForm(
  { status, message }: { status: number; message: string },
  path: string,
): LargeForm | undefined {
  if (status !== 413 || !path.startsWith("/console/")) return undefined;
  const [, list] = ACTION_PATH.exec(path) ?? [];
  if (list !== undefined)
    return {
      title: "Too many rows at once",
      detail: `nothing was changed: one form names at most ${BULK_ROWS_MAX} rows. Select at most ${BULK_ROWS_MAX} rows of the list, or all that match the filters`,
      nextStep: { text: "Back to the list", path: list },
    };
  return {
    title: "The form is too large",
    detail: `nothing was changed: ${message}. Go back one page in your browser, where your input is still present, and shorten it`,
    nextStep: { text: "Go to the console", path: "/console" },
  };
}

/** @returns the failure as an error page, with a link to continue */
export function failurePage(
  failure: Failure,
  {
    path,
    next,
    ...shown
  }: { requestId: string; path: string; next?: string | undefined; branding: Branding | undefined },
): Response {
  const { status, message } = failure;
  const title = TITLES[status] ?? (status >= 500 ? "Something went wrong" : "Invalid request");
  const isCallback = path.startsWith(`${CALLBACK_PATH}/`); // a second attempt cannot succeed
  const link = isPassing(status) ? { text: "Try again", path } : { text: "Go to the start page", path: "/" };
  const nextStep = isCallback ? { text: "Back to sign-in", path: chooseSignInPath(next) } : link;
  const words = largeForm(failure, path) ?? { title, detail: message, nextStep };
  return page(errorPage({ ...words, ...shown }), { failure });
}

/**
 * @returns the failure to show in the form
 * @throws the error itself if the user cannot correct it
 */
export function formFailure(error: unknown, request: Request): Failure {
  const failure = failureOf(error);
  if (!failure || failure.status >= 500) throw error;
  noteRefusal(request, failure);
  return failure;
}

const htmlResponse = { description: "The page", schema: Type.String(), mediaType: "text/html" };

/** OpenAPI description of a page. */
export const pageOperation = (operationId: string, summary: string) =>
  operation(operationId, summary, { tags: ["Pages"], answers: { 200: htmlResponse } });

/** OpenAPI description of a path that only redirects. */
export const redirectOperation = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    tags: ["Pages"],
    answers: { 303: { description: "The page is in Location" } },
  });

/** OpenAPI description of a form. It answers with a redirect, or shows the form again with the error. */
export const formOperation = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    tags: ["Pages"],
    answers: { 303: { description: "Done; the next page is in Location" } },
  });

/** Options of the route of a page. Pages identify the visitor themselves, because they redirect signed-out visitors to the sign-in page. */
export const pageRoute = (operationId: string, summary: string) =>
  ({ requires: "nobody", detail: pageOperation(operationId, summary) }) as const;

/** Options of the route of a form. */
export const formRoute = <Body extends TSchema>(body: Body, detail: ReturnType<typeof pageOperation>) =>
  ({ requires: "nobody", accepts: "form", body, detail }) as const;

/** Options of the route of a form with a file, which the handler reads with readUpload. */
export const uploadRoute = (detail: ReturnType<typeof pageOperation>) =>
  ({ requires: "nobody", accepts: "upload", detail }) as const;

/**
 * Creates the schema of a form or of a page's query. Validation never fails: handlers check the values, so that the response is
 * a page with instructions, and links may carry extra parameters.
 */
export const formOf = <Fields extends Record<string, typeof FormField>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: true });

/** An optional field; empty counts as omitted. */
export const FormField = Type.Optional(Type.String());
