// Half-open intervals of harness versions: SemVer bounds, and how the variants of an adapter must fit into its availability.

import { compare, parse, type SemVer } from "semver";
import type { ObjectReader } from "../../../platform/text/object-reader.ts";
import { type ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import { LABEL_CHARACTERS_MAX } from "../model.ts";

/** `introduced` is included, `before` excluded; null means no end. Build metadata does not count. */
export interface Interval {
  readonly introduced: SemVer;
  readonly before: SemVer | null;
}

/** An interval with its place in the input. */
export interface PlacedInterval extends Interval {
  readonly pointer: string;
}

const FIRST_VERSION = "0.0.0";
const REQUIREMENT = /^\s*>=\s*([^\s,]+)\s*(?:,\s*<\s*([^\s,]+)\s*)?$/;

/** @returns the bound; null if there is none; undefined if it is invalid, which is reported under `name` */
const boundOf = (
  members: ObjectReader,
  name: string,
  text: string | undefined,
): SemVer | null | undefined => {
  if (text === undefined) return members.has(name) ? undefined : null;
  const version = parseVersion(text);
  if (!version) members.report(`${quoted(text)} is not a full version such as 2.0.12`, name);
  return version ?? undefined;
};

const readBound = (members: ObjectReader, name: string): SemVer | null | undefined =>
  boundOf(members, name, members.text(name, LABEL_CHARACTERS_MAX));

/** @returns the interval; undefined if a bound is invalid or the end is not after the start, which is reported */
const intervalOf = (
  members: ObjectReader,
  introduced: SemVer | null | undefined,
  end: { before: SemVer | null | undefined; name: string },
): Interval | undefined => {
  const { before, name } = end;
  if (!introduced || before === undefined) return undefined;
  if (before === null || compare(before, introduced) > 0) return { introduced, before };
  members.report(`the end ${before.raw} must be later than the start ${introduced.raw}`, name);
  return undefined;
};

/** @returns the availability of an adapter, from 0.0.0 by default; undefined if it is invalid */
export const readAvailability = (members: ObjectReader): Interval | undefined => {
  const introduced = readBound(members, "introduced");
  return intervalOf(members, introduced === null ? parse(FIRST_VERSION) : introduced, {
    before: readBound(members, "before"),
    name: "before",
  });
};

/** Older notation: `>=A` or `>=A, <B` is equivalent to `introduced` and `before`. */
const readRequirement = (members: ObjectReader): Interval | undefined => {
  const name = "version_requirement";
  if (members.has("introduced") || members.has("before")) {
    members.report("cannot be combined with introduced or before; keep those and remove it", name);
    return undefined;
  }
  const text = members.text(name, LABEL_CHARACTERS_MAX);
  if (text === undefined) return undefined;
  const [, start, end] = REQUIREMENT.exec(text) ?? [];
  if (start === undefined) {
    members.report(`${quoted(text)} must have the form >=A or >=A, <B; prefer introduced and before`, name);
    return undefined;
  }
  const introduced = boundOf(members, name, start);
  const before = end === undefined ? null : boundOf(members, name, end);
  return intervalOf(members, introduced, { before, name });
};

/** @returns the interval of a variant, which may have the older notation; undefined if it is invalid */
export const readVariantInterval = (members: ObjectReader): Interval | undefined => {
  if (members.has("version_requirement")) return readRequirement(members);
  const introduced = readBound(members, "introduced");
  if (introduced === null)
    members.report("is missing; a variant needs the first version to which it applies", "introduced");
  return intervalOf(members, introduced, { before: readBound(members, "before"), name: "before" });
};

const isSame = (one: SemVer | null, other: SemVer | null): boolean =>
  one === null || other === null ? one === other : compare(one, other) === 0;

const isBefore = (one: SemVer, end: SemVer | null): boolean => end === null || compare(one, end) < 0;

const ending = (end: SemVer | null): string => (end === null ? "without an end" : `up to ${end.raw}`);

/** Reports a variant that is not inside the availability of its adapter. */
export const checkInside = (problems: ProblemList, variant: PlacedInterval, availability: Interval): void => {
  if (compare(variant.introduced, availability.introduced) < 0)
    problems.add(
      `${variant.pointer}/introduced`,
      `${variant.introduced.raw} is earlier than the adapter's start, ${availability.introduced.raw}`,
    );
  if (availability.before === null) return;
  if (variant.before === null)
    problems.add(variant.pointer, `needs before, because the adapter ends before ${availability.before.raw}`);
  else if (compare(variant.before, availability.before) > 0)
    problems.add(
      `${variant.pointer}/before`,
      `${variant.before.raw} is later than the adapter's end, ${availability.before.raw}`,
    );
};

/** Reports a variant that shares a version with an earlier one of the list. */
export const checkOverlap = (
  problems: ProblemList,
  variant: PlacedInterval,
  earlier: readonly PlacedInterval[],
): void => {
  const other = earlier.find(
    (one) => isBefore(variant.introduced, one.before) && isBefore(one.introduced, variant.before),
  );
  if (other)
    problems.add(
      variant.pointer,
      `overlaps the variant at ${other.pointer}, from ${other.introduced.raw} ${ending(other.before)}`,
    );
};

/** Reports every variant that does not start later than the one before it. */
export const checkOrder = (problems: ProblemList, variants: readonly PlacedInterval[]): void => {
  variants.forEach((variant, index) => {
    const previous = variants[index - 1];
    if (previous && compare(variant.introduced, previous.introduced) <= 0)
      problems.add(
        `${variant.pointer}/introduced`,
        `variants must be in ascending order, but ${variant.introduced.raw} follows ${previous.introduced.raw}`,
      );
  });
};

/**
 * Reports the versions of the availability that no variant covers; for adapters without a fallback.
 * @param variants inside the availability, ascending, without overlap
 */
export const checkCoverage = (
  problems: ProblemList,
  variants: readonly PlacedInterval[],
  availability: Interval,
): void => {
  const advice = "close the gap or put a fallback layout directly on the adapter";
  let covered: SemVer | null = availability.introduced;
  for (const variant of variants) {
    if (!isSame(variant.introduced, covered))
      problems.add(
        `${variant.pointer}/introduced`,
        `nothing covers the versions from ${covered?.raw} up to ${variant.introduced.raw}; ${advice}`,
      );
    covered = variant.before;
  }
  const last = variants.at(-1);
  if (last && !isSame(covered, availability.before))
    problems.add(
      `${last.pointer}/before`,
      `nothing covers the versions from ${covered?.raw} on, ${ending(availability.before)}; ${advice}`,
    );
};
