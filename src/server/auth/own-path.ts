// Validates the path to redirect to after sign-in. Only paths of this service are accepted, and none that a browser would
// read as another site.

/** Longer paths are rejected. */
export const OWN_PATH_LENGTH_MAX = 2048;
/** Placeholder origin: every absolute URL resolves to a different one. */
const BASE = "http://own.invalid";

/**
 * Parses an untrusted redirect path.
 * @returns the path as a browser's URL parser reads it, without a fragment; undefined for another site in any spelling
 *   (`https:…`, `//host`, `/\host`, with tabs in between, `/.//host`)
 */
export function readOwnPath(text: string | undefined): string | undefined {
  if (!text?.startsWith("/") || text.length > OWN_PATH_LENGTH_MAX) return undefined;
  const url = URL.parse(text, BASE);
  // A path that begins with two slashes is read as a host when used alone.
  if (url?.origin !== BASE || url.pathname.startsWith("//")) return undefined;
  return url.pathname + url.search;
}
