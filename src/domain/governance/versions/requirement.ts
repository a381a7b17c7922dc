// Version requirements in the style of Cargo, translated for the semver library. For releases both agree on every operator.
// They differ in grammar, in the meaning of a version without an operator, and in pre-releases of partial versions: in policies
// `>=2` excludes every pre-release of 2, and `^2` includes them all.

import { Range, SemVer } from "semver";

export const REQUIREMENT_CHARACTERS_MAX = 256;
export const COMPARATORS_MAX = 32;

const NUMBER = "(?:0|[1-9]\\d*)";
const ANY = "[*xX]";
const TAG = "[\\dA-Za-z-]+(?:\\.[\\dA-Za-z-]+)*";
const FULL = `${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${TAG})?`;
const PARTIAL = `${NUMBER}(?:\\.${NUMBER})?`;
const COMPARATOR = new RegExp(
  `^ *(?<operator>[<>]=?|[=^~])? *(?:(?<full>${FULL})(?:\\+${TAG})?|(?<partial>${PARTIAL})(?<wild>(?:\\.${ANY})*)) *$`,
);
export const NUMBERS_MAX = 3;
const EVERYTHING = new RegExp(`^ *${ANY} *$`);

/** One comparator in the syntax of the library. */
interface Comparator {
  readonly releases: string;
  readonly prereleases: string;
  /** the version if it is complete and a pre-release: allows pre-releases of its triple to match */
  readonly tagged: SemVer | undefined;
}

const NOTHING = "<0.0.0-0";
/** for operators before a partial version: the pre-releases that match; other operators treat pre-releases like releases */
const PARTIAL_PRERELEASES: Readonly<Record<string, (version: string) => string>> = {
  "=": () => NOTHING,
  "~": () => NOTHING,
  ">=": (version) => `>${version}`,
  "<=": (version) => `<${version}`,
};

const comparatorOf = (text: string): Comparator | undefined => {
  const { operator, full, partial, wild = "" } = COMPARATOR.exec(text)?.groups ?? {};
  const sign = operator ?? (wild === "" ? "^" : "=");
  if (full !== undefined) {
    const releases = sign + full;
    // Below 1.0.0 the library's caret includes pre-releases of the version itself once it includes any.
    const prereleases = sign === "^" ? `>=${full} ${releases}` : releases;
    return { releases, prereleases, tagged: full.includes("-") ? new SemVer(full) : undefined };
  }
  if (partial === undefined || `${partial}${wild}`.split(".").length > NUMBERS_MAX) return undefined;
  const releases = sign + partial;
  return { releases, prereleases: PARTIAL_PRERELEASES[sign]?.(partial) ?? releases, tagged: undefined };
};

/** A version must satisfy every comparator; for a pre-release one of them must name its triple with a tag. */
export class Requirement {
  readonly #releases: Range;
  readonly #prereleases: Range;
  readonly #tagged: readonly SemVer[];

  /** @throws TypeError for a tag or a number that SemVer does not allow */
  constructor(comparators: readonly Comparator[]) {
    this.#releases = new Range(comparators.map(({ releases }) => releases).join(" "));
    this.#prereleases = new Range(comparators.map(({ prereleases }) => prereleases).join(" "), {
      includePrerelease: true,
    });
    this.#tagged = comparators.flatMap(({ tagged }) => tagged ?? []);
  }

  isSatisfiedBy(version: SemVer): boolean {
    if (version.prerelease.length === 0) return this.#releases.test(version);
    return this.#tagged.some((named) => named.compareMain(version) === 0) && this.#prereleases.test(version);
  }

  /** @returns the versions at which the requirement begins or ends; none for `*` */
  endpoints(): SemVer[] {
    return this.#releases.set.flat().flatMap(({ semver }) => (semver instanceof SemVer ? [semver] : []));
  }
}

/**
 * Parses a requirement: comparators separated by commas, all of which must hold, or `*` alone.
 * @returns undefined if the text is not a requirement, such as the empty text
 * @source handbook: policy-file, Versions
 */
export const parseRequirement = (text: string): Requirement | undefined => {
  if (text.length > REQUIREMENT_CHARACTERS_MAX) return undefined;
  if (EVERYTHING.test(text)) return new Requirement([]);
  const parts = text.split(",");
  if (parts.length > COMPARATORS_MAX) return undefined;
  try {
    const comparators = parts.flatMap((part) => comparatorOf(part) ?? []);
    return comparators.length === parts.length ? new Requirement(comparators) : undefined;
  } catch {
    // A tag or a number that SemVer does not allow, such as `1.2.3-01`, is not a requirement either.
    return undefined;
  }
};
