// The address of a list holds its whole state. These functions make links to the same list with some parameters changed.

/** New values of parameters; undefined removes one. */
export type Changes = Readonly<Record<string, string | number | undefined>>;

/** Selects every row of the page. A link that leads elsewhere leaves it out, because it concerns these rows only. */
export const SELECTION = { name: "select", value: "page" } as const;

/** Parameters of the position in the list. They are removed when the filters or the order change. */
export const PLACES = ["page", "cursor", "known"];

/**
 * @param url of the page that is shown
 * @returns path and query with these parameters changed
 */
export function addressWith(url: URL, changes: Changes): string {
  const query = new URLSearchParams(url.search);
  query.delete(SELECTION.name);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  return pathWith(url.pathname, query);
}

/** @returns the same as addressWith, for the first page */
export const fromStart = (url: URL, changes: Changes): string =>
  addressWith(url, { ...Object.fromEntries(PLACES.map((name) => [name, undefined])), ...changes });

/** @returns path and query of a form's address */
export const pathWith = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query}`;

/** @returns the parameters of the address that have a value; the first of a repeated one */
export const valuesOf = (url: URL): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...url.searchParams]
      .reverse()
      .flatMap(([name, value]) => (value.trim() === "" ? [] : [[name, value.trim()]])),
  );
