// Lists of names in sentences.

/** Further names are only counted. */
export const NAMES_SHOWN_MAX = 5;

/** @returns the names as `a, b`; beyond NAMES_SHOWN_MAX as `a, b, c, d, e, and 2 more` */
export function nameList(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN_MAX;
  return [...names.slice(0, NAMES_SHOWN_MAX), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}
