// Reads the bearer token of a request. The scheme may be in any case (RFC 9110 section 11.1), with one or more spaces after it
// (RFC 6750 section 2.1). guard.ts uses the plugin for the usual spelling.
const SCHEME = /^bearer(?: +|$)/i;

/** @returns the token, empty if only the scheme is there; undefined for another scheme, or without the header */
export function bearerTokenIn({ headers }: Pick<Request, "headers">): string | undefined {
  const header = headers.get("authorization");
  const [scheme] = (header !== null && SCHEME.exec(header)) || [];
  return scheme === undefined ? undefined : header?.slice(scheme.length);
}
