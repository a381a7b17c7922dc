// Version requirements as policies write them, Cargo style, in terms of the semver library. Both mean the same by each
// operator, by partial versions and by pre-releases; they differ in grammar, and in what a version without operator means.

import { Range, SemVer } from "semver";

export const REQUIREMENT_CHARACTERS_MAX = 256;
export const COMPARATORS_MAX = 32;

const NUMBER = "(?:0|[1-9]\\d*)";
const ANY = "[*xX]";
const TAG = "[\\dA-Za-z.-]+";
const WILD = `${NUMBER}(?:\\.${ANY}){1,2}|${NUMBER}\\.${NUMBER}\\.${ANY}`;
const FULL = `${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${TAG})?(?:\\+${TAG})?`;
const PARTIAL = `${NUMBER}(?:\\.${NUMBER})?`;
const COMPARATOR = new RegExp(
  `^ *(?<operator>[<>]=?|[=^~])? *(?:(?<wild>${WILD})|(?<version>${FULL}|${PARTIAL})) *$`,
);
const EVERYTHING = new RegExp(`^ *${ANY} *$`);

/** @returns one comparator in the library's words: without an operator a version means what is compatible with it */
const comparatorOf = (text: string): string | undefined => {
  const { operator, wild, version } = COMPARATOR.exec(text)?.groups ?? {};
  if (wild !== undefined) return `${operator ?? "="}${wild}`;
  return version === undefined ? undefined : `${operator ?? "^"}${version}`;
};

/**
 * Reads a requirement: comparators joined by commas, all of which must hold.
 * A pre-release matches only when a comparator names a pre-release of the same triple, which is the library's rule too.
 * @returns the one range it stands for; nothing when it is none, as the empty text
 * @source control-api.md section 7, "Version selection"; SemVer 2.0.0 section 11 for the order
 */
export const parseRequirement = (text: string): Range | undefined => {
  if (text.length > REQUIREMENT_CHARACTERS_MAX) return undefined;
  if (EVERYTHING.test(text)) return new Range("*");
  const comparators = text.split(",").map(comparatorOf);
  if (comparators.length > COMPARATORS_MAX || comparators.includes(undefined)) return undefined;
  try {
    return new Range(comparators.join(" "));
  } catch {
    // A tag or a number that SemVer does not have: `1.2.3-01`, 2^60.
    return undefined;
  }
};

/** @returns the versions where the range begins or ends; none for `*` */
export const endpointsOf = (range: Range): SemVer[] =>
  range.set.flat().flatMap(({ semver }) => (semver instanceof SemVer ? [semver] : []));
