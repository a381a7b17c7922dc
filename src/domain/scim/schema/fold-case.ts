// How text is compared where case does not count (SCIM-29): the same fold for stored keys and for filter literals.

/** Folded texts that are kept: one filter looks at the same values again and again, and NFKC costs much. */
const KEPT_MAX = 1_024;
const ASCII = /^\p{ASCII}*$/u;

const kept = new Map<string, string>();

/** @returns the text in compatibility form (NFKC) and lower case, whatever the machine's locale */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const known = kept.get(text);
  if (known !== undefined) return known;
  if (kept.size === KEPT_MAX) kept.clear();
  const folded = text.normalize("NFKC").toLowerCase();
  kept.set(text, folded);
  return folded;
}
