// Case-insensitive comparison of text (SCIM-29): the same folding for stored keys and for filter literals.
import { LRUCache } from "lru-cache";

/** Cached folded texts: one filter compares the same values again and again, and NFKC is expensive. */
const KEPT_MAX = 1_024;
const ASCII = /^\p{ASCII}*$/u;

const kept = new LRUCache<string, string>({ max: KEPT_MAX });

/** @returns the text in compatibility form (NFKC) and lower case, independent of the machine's locale */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const known = kept.get(text);
  if (known !== undefined) return known;
  const folded = text.normalize("NFKC").toLowerCase();
  kept.set(text, folded);
  return folded;
}
