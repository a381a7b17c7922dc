// Answers for browsers: a page with its headers, and the redirect that ends every form.
import { Type } from "@sinclair/typebox";
import { noteRefusal } from "../http/exchange.ts";
import { type Failure, failureOf } from "../http/problems/problem.ts";
import { operation } from "../openapi.ts";
import { contentSecurityPolicy } from "./assets.ts";
import { errorPage } from "./error.tsx";

interface PageOptions {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /** values of Set-Cookie */
  cookies?: readonly string[];
}

/** @returns the document under the policy of pages; nobody keeps it, because it shows one person's state */
export function page(html: string, { status = 200, headers = {}, cookies = [] }: PageOptions = {}): Response {
  return new Response(html, {
    status,
    headers: withCookies(cookies, {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "cache-control": "no-store",
    }),
  });
}

/** @param path one of ours @returns 303, so that reloading never repeats a form */
export const seeOther = (path: string, cookies: readonly string[] = []): Response =>
  new Response(null, {
    status: 303,
    headers: withCookies(cookies, { location: path, "cache-control": "no-store" }),
  });

/** @returns the sign-in page that leads on to a path of ours (client-and-auth.md section 4.1) */
export const signInPath = (next: string): string => `/login?callbackURL=${encodeURIComponent(next)}`;

function withCookies(cookies: readonly string[], fields: Record<string, string>): Headers {
  const headers = new Headers(fields);
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return headers;
}

const TITLES: Readonly<Record<number, string>> = {
  403: "This was refused",
  404: "There is nothing here",
  405: "This page cannot do that",
  408: "This took too long",
  409: "This is not possible now",
  413: "This is too much",
  429: "Too many attempts",
};

/** @returns the failure as a page */
export function failurePage({ status, message, headers }: Failure, requestId: string): Response {
  const title = TITLES[status] ?? (status >= 500 ? "This did not work" : "This could not be understood");
  return page(errorPage({ title, detail: message, requestId }), { status, headers });
}

/**
 * @returns what the sender of a form did wrong, to show it in the form again
 * @throws the error itself when the sender can do nothing about it
 */
export function formFailure(error: unknown, request: Request): Failure {
  const failure = failureOf(error);
  if (!failure || failure.status >= 500) throw error;
  noteRefusal(request, failure);
  return failure;
}

const htmlAnswer = { description: "The page", schema: Type.String(), mediaType: "text/html" };

/** What a page says of itself in the API document. */
export const pageOperation = (operationId: string, summary: string) =>
  operation(operationId, summary, { tags: ["Pages"], answers: { 200: htmlAnswer } });

/** What a path says of itself that only leads to a page. */
export const redirectOperation = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    tags: ["Pages"],
    answers: { 303: { description: "The page is in Location" } },
  });

/** What a form says of itself: it ends in a redirect, or in its page again with what was wrong. */
export const formOperation = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    tags: ["Pages"],
    answers: { 303: { description: "Done; the page to go on with is in Location" } },
  });

/**
 * Makes the schema of a form, or of a page's query, out of fields. Nothing fails it: handlers judge what is there, so that
 * the answer is a page that says what to do, and a link may carry what others added to it.
 */
export const formOf = <Fields extends Record<string, typeof FormField>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: true });

/** A field that may be missing: an empty one counts as left out. */
export const FormField = Type.Optional(Type.String());
