// Chooses the error format of a path. problem.ts, oauth-problem.ts, html.ts and refusal.ts define the formats.
import { ISSUER_PATH } from "../../../domain/access/wire.ts";

/** `problem`: RFC 9457. `oauth`: RFC 6749 section 5.2. `page`: HTML for a person. `scim`: RFC 7644 section 3.12. */
export type Dialect = "problem" | "oauth" | "page" | "scim";

/** The OAuth endpoints, and the routes that decide on device logins. */
const OAUTH_PATHS = [`${ISSUER_PATH}/device`, `${ISSUER_PATH}/oauth2/`];
/** SCIM paths, known and unknown. */
const SCIM_PATHS = /^\/scim(?:\/|$)/;
/** Paths that browsers visit. */
const PAGE_PATHS =
  /^\/(?:(?:sign-out|signed-out)\/?|(?:login|account|console|device|accept-invitation|set-password|help|api\/auth\/callback)(?:\/.*)?)?$/;

/** @returns whether the caller asks for HTML before JSON, as browsers do */
export function prefersPage(request: Request): boolean {
  const accept = request.headers.get("accept") ?? "";
  const html = accept.indexOf("text/html");
  const json = accept.search(/application\/(?:[\w.-]+\+)?json/);
  return html >= 0 && (json < 0 || html < json);
}

/**
 * @param path of a request, or a route template
 * @returns its error format; `problem` for an unknown path
 */
export function dialectOf(path: string): Dialect {
  if (OAUTH_PATHS.some((prefix) => path.startsWith(prefix))) return "oauth";
  if (SCIM_PATHS.test(path)) return "scim";
  return PAGE_PATHS.test(path) ? "page" : "problem";
}
