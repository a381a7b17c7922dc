// Reads query parameter names from the raw URL, because the framework keeps only the last of a repeated parameter.

/** @returns which of these names the query repeats */
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
