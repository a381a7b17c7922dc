// Where a browser may be sent after signing in: paths of ours, and nothing that a browser would read as another site.

/** Longer ones are no path of ours. */
export const OWN_PATH_LENGTH_MAX = 2048;
/** Stands for our own, so that every absolute address differs from it. */
const BASE = "http://own.invalid";

/**
 * Reads a path that came from outside.
 * @returns the path as the URL parser of a browser understands it, without a fragment; nothing for another site in any
 *   spelling (`https:…`, `//host`, `/\host`, with tabs between, `/.//host`)
 */
export function readOwnPath(text: string | undefined): string | undefined {
  if (!text?.startsWith("/") || text.length > OWN_PATH_LENGTH_MAX) return undefined;
  const url = URL.parse(text, BASE);
  // A path that begins with two slashes is a host again once it stands alone.
  if (url?.origin !== BASE || url.pathname.startsWith("//")) return undefined;
  return url.pathname + url.search;
}
