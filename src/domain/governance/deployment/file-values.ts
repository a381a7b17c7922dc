// The values of the deployment file where the policy differs from it, and a document that takes them. Pure functions of plain
// values, because a thread may run them (tasks.ts).
import { isDeepStrictEqual } from "node:util";
import { type Problem, tokensOf } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import { unstamped } from "../document/stamp.ts";
import { changedPlaces, joinParts, splitParts } from "../publishing/document-paths.ts";
import { finalizeUnchanged, withoutRevisionFields } from "../publishing/finalize.ts";
import { type BaseRevisionText, judged, parse, refused, type Validated } from "../publishing/judged.ts";

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
  /** conflicts that are wanted; all when left out */
  limit?: number | undefined;
}

export interface FoundConflicts {
  /** another one as soon as a value or a place changes */
  version: string;
  /** how many there are */
  total: number;
  /** the first of them as JSON, because a service takes longer to receive thousands of objects from a thread */
  conflicts: string;
}

/** @returns the values of both sides at each path */
export function fileConflicts({ limit, ...sides }: FileSides): FoundConflicts {
  const all = conflictsAt(sides);
  return {
    version: sha256Hex(JSON.stringify(all)).slice(0, VERSION_DIGITS),
    total: all.length,
    conflicts: JSON.stringify(all.slice(0, limit)),
  };
}

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

/** Takes the values of the file at those paths. As in the file itself, ranges without a certified version are not refused. */
export function takeFileValues({ base, file, paths, frame }: FileValuesRequest): Validated {
  const before = parse(base);
  const wanted = parse(file);
  const taken = paths.reduce(
    (document, path) => withValueOf(wanted, document, tokensOf(path)),
    unstamped(before),
  );
  const problems: Problem[] = [];
  const document = finalizeUnchanged(taken, { ...frame, problems });
  return problems.length > 0 ? refused(problems) : judged(document, before);
}

/** @returns the target with the source's value at the place; if either has nothing around the place, with what the source has there */
function withValueOf<T>(
  source: unknown,
  target: T,
  tokens: readonly string[],
  path: readonly string[] = [],
): T {
  const [token, ...rest] = tokens;
  const [parts, sourceParts] = [splitParts(path, target), splitParts(path, source)];
  // Documents are joined member by member, so the result has the shape of the target.
  if (token === undefined || !parts || !sourceParts) return source as T;
  const inside = [...path, token];
  const value = withValueOf(sourceParts.get(token), parts.get(token), rest, inside);
  if (isDeepStrictEqual(value, parts.get(token))) return target;
  if (value === undefined) parts.delete(token);
  else parts.set(token, value);
  return joinParts(parts, target) as T;
}
