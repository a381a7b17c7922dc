// In which words a path refuses: each reader gets errors in the shape it reads. The shapes are in problem.ts,
// oauth-problem.ts, html.ts and scim/problem.ts.
import { ISSUER_PATH } from "../../../domain/access/wire.ts";

/** `problem`: RFC 9457. `oauth`: RFC 6749 section 5.2. `page`: HTML for a person. `scim`: RFC 7644 section 3.12. */
export type Dialect = "problem" | "oauth" | "page" | "scim";

/** The OAuth endpoints, and the routes beside them that decide on device logins (client-and-auth.md section 4.1). */
const OAUTH_PATHS = [`${ISSUER_PATH}/device`, `${ISSUER_PATH}/oauth2/`];
/** Identity providers: known and unknown paths alike (scim.md SCIM-47). */
const SCIM_PATHS = /^\/scim(?:\/|$)/;
/** Paths whose callers are browsers. */
const PAGE_PATHS = /^\/(?:(?:login|sign-out)\/?|(?:account|device|accept-invitation|help)(?:\/.*)?)?$/;

/** @param path of a request, or a route's template @returns how it refuses; a path without a route speaks problem+json */
export function dialectOf(path: string): Dialect {
  if (OAUTH_PATHS.some((prefix) => path.startsWith(prefix))) return "oauth";
  if (SCIM_PATHS.test(path)) return "scim";
  return PAGE_PATHS.test(path) ? "page" : "problem";
}
