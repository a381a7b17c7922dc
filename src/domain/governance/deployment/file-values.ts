// Reads the values of the deployment file where the policy differs, and takes them into a document. Pure functions of plain
// values, because a thread may run them (tasks.ts).
import { isDeepStrictEqual } from "node:util";
import { tokensOf } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import { packageIds, withOwnOverrides, withoutFormerOverrides } from "../document/package-overrides.ts";
import { unstamped } from "../document/stamp.ts";
import { changedPlaces, joinParts, splitParts } from "../publishing/document-paths.ts";
import {
  finalizeUnchanged,
  isLarger,
  joinedProblems,
  preventingProblems,
  withoutRevisionFields,
} from "../publishing/finalize.ts";
import { accepted, type BaseRevisionText, parse, refused, type Validated } from "../publishing/validated.ts";
import { hasSecrets } from "../shown/hidden-secrets.ts";
import { type Shown, shownSides } from "../shown/shown-values.ts";

/** A place where the policy differs from the file; a side without a value there lacks its member. */
export interface FileConflict {
  /** as in document-paths.ts */
  path: string;
  policy?: unknown;
  file?: unknown;
}

export interface FileSides {
  /** the current document, as JSON */
  current: string;
  /** the document of the file, as JSON */
  file: string;
  /** a list as JSON */
  paths: string;
}

export interface FoundConflicts {
  /** changes as soon as a value or a place changes */
  version: string;
  /** number of places */
  total: number;
  /** all of them as JSON, because a service takes longer to receive thousands of objects from a thread */
  conflicts: string;
}

/** @returns the values of both sides at each path */
export function fileConflicts(sides: FileSides): FoundConflicts {
  const all = conflictsAt(sides);
  return { ...factsOf(all), conflicts: JSON.stringify(all) };
}

interface ShownSides extends FileSides {
  /** maximum number of conflicts */
  limit: number;
  /** whether to hide secrets */
  isHidden: boolean;
}

export interface ShownConflicts extends Omit<FoundConflicts, "conflicts"> {
  /** the first conflicts, with texts */
  conflicts: readonly Shown<FileConflict, "policy" | "file">[];
  /** whether these conflicts contain secrets, hidden or not */
  hasSecrets: boolean;
}

/** @returns the conflicts in the form that a page shows */
export function shownConflicts({ limit, isHidden, ...sides }: ShownSides): ShownConflicts {
  const all = conflictsAt(sides);
  const first = all.slice(0, limit);
  return {
    ...factsOf(all),
    conflicts: first.map((conflict) => shownSides(conflict, { names: ["policy", "file"], isHidden })),
    hasSecrets: first.some(({ path, ...values }) =>
      Object.values(values).some((value) => hasSecrets(value, tokensOf(path))),
    ),
  };
}

const factsOf = (all: readonly FileConflict[]) => ({
  version: sha256Hex(JSON.stringify(all)).slice(0, VERSION_DIGITS),
  total: all.length,
});

const VERSION_DIGITS = 16;

function conflictsAt({ current, file, paths }: FileSides): FileConflict[] {
  const inPolicy = changedPlaces(withoutRevisionFields(parse(current)));
  const inFile = changedPlaces(parse(file));
  const places: string[] = JSON.parse(paths);
  return places.map((path) => {
    const [policy, wanted] = [inPolicy(path), inFile(path)];
    return {
      path,
      ...(policy === undefined ? {} : { policy }),
      ...(wanted === undefined ? {} : { file: wanted }),
    };
  });
}

export interface FileValuesRequest extends BaseRevisionText {
  /** the document of the file, as JSON */
  file: string;
  paths: readonly string[];
}

/**
 * Takes the values of the file at those paths. A package that the policy lacks comes with its overrides. As in the file itself,
 * ranges without a certified version are allowed.
 */
export function takeFileValues({ base, file, paths, frame }: FileValuesRequest): Validated {
  const before = parse(base);
  const wanted = parse(file);
  const valued = withValuesOf(wanted, unstamped(before), placesAt(paths));
  const added = packageIds(valued).difference(packageIds(before));
  const whole = withOwnOverrides(valued, new Map([...added].map((id) => [id, wanted])));
  const taken = withoutFormerOverrides(whole, before);
  const problems = joinedProblems(taken, before);
  const document = finalizeUnchanged(taken, { ...frame, problems });
  const isShrinkingEdit = frame.isEdit && !isLarger(document, before);
  const preventing = isShrinkingEdit ? [] : preventingProblems(problems, frame);
  return preventing.length > 0 ? refused(preventing) : accepted(document, before);
}

/** Groups places by their first tokens, so that each part of a document is split once, for any number of places. */
interface Places {
  /** whether this node is a place itself */
  isPlace: boolean;
  inside: Map<string, Places>;
}

function placesAt(paths: readonly string[]): Places {
  const places: Places = { isPlace: false, inside: new Map() };
  for (const path of paths) {
    let at = places;
    for (const token of tokensOf(path)) {
      const next = at.inside.get(token) ?? { isPlace: false, inside: new Map() };
      at.inside.set(token, next);
      at = next;
    }
    at.isPlace = true;
  }
  return places;
}

/** @returns the target with the source's values at the places; if one side lacks the part around a place, the source's part */
function withValuesOf<T>(
  source: unknown,
  target: T,
  { isPlace, inside }: Places,
  path: readonly string[] = [],
): T {
  const [parts, sourceParts] = [splitParts(path, target), splitParts(path, source)];
  // The join works member by member, so the result has the shape of the target.
  if (isPlace || !parts || !sourceParts) return source as T;
  let isChanged = false;
  for (const [token, places] of inside) {
    const before = parts.get(token);
    const value = withValuesOf(sourceParts.get(token), before, places, [...path, token]);
    if (isDeepStrictEqual(value, before)) continue;
    isChanged = true;
    if (value === undefined) parts.delete(token);
    else parts.set(token, value);
  }
  return isChanged ? (joinParts(parts, target) as T) : target;
}
