// Merges two versions of a policy with a common base: the deployment file with the dashboard, or a draft with newer revisions.
// Takes the changes of both. In a conflict the current value stays unless a decision says otherwise, and the place is reported.
import { isDeepStrictEqual } from "node:util";
import { pointerOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { changedPlaces, joinParts, splitParts, type ValueAt } from "./document-paths.ts";
import { mergedOrder } from "./merge-order.ts";

/**
 * The base of a draft whose base revision no longer exists. The author of a change is unknown then, so every difference is a
 * conflict.
 */
export const UNKNOWN_BASELINE: unique symbol = Symbol("unknown baseline");

/** The common base of both authors and the version of each. */
export interface Versions<T> {
  /** the last version of the file, or the draft's base revision */
  baseline: T | typeof UNKNOWN_BASELINE;
  /** the current document */
  current: T;
  /** the current version of the file, or the draft */
  wanted: T;
}

/** @param path path of a conflict @returns whether the wanted value was chosen there */
export type IsWanted = (path: string) => boolean;

export interface Merge<T> {
  merged: T;
  /** paths that both changed differently (see document-paths.ts) */
  conflicts: readonly string[];
  /** paths of lists whose entries both moved in different ways; the entries themselves are merged */
  orders: readonly string[];
}

interface Found {
  conflicts: string[];
  orders: string[];
  isWanted: IsWanted;
}

/**
 * Applies every wanted change that does not conflict with the current document. Mappings are merged by member, packages by id,
 * MCP servers by name; any other list, and each value of isOneValue, is a single value.
 */
export function mergeDocuments<T extends object>(
  versions: Versions<T>,
  isWanted: IsWanted = () => false,
): Merge<T> {
  const found: Found = { conflicts: [], orders: [], isWanted };
  const merged = mergeAt([], versions, found);
  // The merge works member by member, so the result has the members of documents.
  return { merged: merged as T, conflicts: found.conflicts, orders: found.orders };
}

/** @returns the given paths where the current document still differs from the file */
export const openConflicts = (
  paths: readonly string[],
  { current, wanted }: Omit<Versions<object>, "baseline">,
): string[] => stillConflicting(paths, { inForce: changedPlaces(current), inFile: changedPlaces(wanted) });

const stillConflicting = (
  paths: readonly string[],
  { inForce, inFile }: { inForce: ValueAt; inFile: ValueAt },
): string[] => [...new Set(paths)].filter((path) => !isDeepStrictEqual(inForce(path), inFile(path)));

const NO_PARTS: Parts = new Map();

/** Members of a package that name its archive. */
const ARCHIVE_MEMBERS = ["version", "source_ref", "artifact_id", "sha256", "platform_sources"];

/** Members of an MCP server that define what runs: mixing two authors' values would create a program that neither wrote. */
const PROGRAM_MEMBERS = ["command", "args", "env", "url", "transport"];

/** @returns whether one side must be chosen as a whole, because neither author wrote a mixture */
function isOneValue(path: readonly string[], versions: Versions<unknown>): boolean {
  const [first, , third] = path;
  if (path.length === 2 && first === "package_audiences") return true;
  const isPackage = path.length === 2 && first === "packages";
  const isServer = path.length === 4 && third === "mcp";
  const isUse = path.length === 4 && third === "package_overrides";
  if (!isPackage && !isServer && !isUse) return false;
  if (versions.baseline === undefined) return true; // both added it
  if (isServer) return areChangedByBoth(versions, PROGRAM_MEMBERS);
  return isPackage && areOfTwoArchives(versions);
}

/** A layout belongs to an archive. */
const areOfTwoArchives = (versions: Versions<unknown>): boolean =>
  areChangedByBoth(versions, [...ARCHIVE_MEMBERS, "adapters"]) &&
  (isChanged(versions, "current", ARCHIVE_MEMBERS) || isChanged(versions, "wanted", ARCHIVE_MEMBERS));

const areChangedByBoth = (versions: Versions<unknown>, members: readonly string[]): boolean =>
  isChanged(versions, "current", members) &&
  isChanged(versions, "wanted", members) &&
  !isDeepStrictEqual(membersOf(versions.current, members), membersOf(versions.wanted, members));

const isChanged = (
  { baseline, ...sides }: Versions<unknown>,
  side: "current" | "wanted",
  members: readonly string[],
): boolean => !isDeepStrictEqual(membersOf(baseline, members), membersOf(sides[side], members));

const membersOf = (value: unknown, members: readonly string[]): unknown[] =>
  members.map((member) => (isJsonObject(value) ? value[member] : undefined));

/** `undefined` means no value or a removed value. */
function mergeAt(path: readonly string[], versions: Versions<unknown>, found: Found): unknown {
  const { baseline, current, wanted } = versions;
  if (isDeepStrictEqual(baseline, wanted) || isDeepStrictEqual(current, wanted)) return current;
  if (isDeepStrictEqual(baseline, current)) return wanted;
  const ours = splitParts(path, current);
  const theirs = splitParts(path, wanted);
  const areParts = Array.isArray(current) === Array.isArray(wanted) && !isOneValue(path, versions);
  if (!ours || !theirs || !areParts) {
    const place = pointerOf(path);
    found.conflicts.push(place);
    return found.isWanted(place) ? wanted : current;
  }
  const before = baseline === UNKNOWN_BASELINE ? undefined : (splitParts(path, baseline) ?? NO_PARTS);
  const sides = { before: before ?? NO_PARTS, current: ours, wanted: theirs };
  const names = Array.isArray(current)
    ? orderAt(pointerOf(path), sides, found)
    : [...ours.keys(), ...theirs.keys()];
  const parts = new Map<string, unknown>();
  for (const name of new Set(names)) {
    const was = before ? before.get(name) : UNKNOWN_BASELINE;
    const part = { baseline: was, current: ours.get(name), wanted: theirs.get(name) };
    const joined = mergeAt([...path, name], part, found);
    if (joined !== undefined) parts.set(name, joined);
  }
  return joinParts(parts, current);
}

type Parts = ReadonlyMap<string, unknown>;

/** @returns the names of both sides in order; if both moved entries, in the chosen order */
function orderAt(
  place: string,
  { before, current, wanted }: { before: Parts; current: Parts; wanted: Parts },
  found: Found,
): readonly string[] {
  const sides = { before: before.keys(), current: current.keys(), wanted: wanted.keys() };
  const { names, otherwise } = mergedOrder(sides);
  if (!otherwise) return names;
  found.orders.push(place);
  return found.isWanted(place) ? otherwise : names;
}
