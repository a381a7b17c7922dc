// The names of query parameters as they stand in an address: what the framework hands over has the last of a repeated one.

/** @returns the names among these that the query of the URL has more than once */
export function repeatedIn(url: string, names: ReadonlySet<string>): string[] {
  const start = url.indexOf("?");
  if (start < 0 || !url.includes("&", start)) return [];
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of new URLSearchParams(url.slice(start + 1)).keys()) {
    if (!names.has(name)) continue;
    (seen.has(name) ? repeated : seen).add(name);
  }
  return [...repeated];
}
