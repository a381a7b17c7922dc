// Two authors of one policy: the deployment file and the dashboard. Joins what both changed since the file was read
// last; where they disagree the dashboard stays, and the place is kept until they agree.
import { changedPlaces, displayPath, isSame, joinParts, splitParts, type ValueAt } from "./document-paths.ts";

/** One document as both authors knew it, and what each made of it. */
export interface Versions<T> {
  /** what the file said when it was read last */
  baseline: T;
  /** what is in force */
  current: T;
  /** what the file says now */
  wanted: T;
}

export interface Merge<T> {
  merged: T;
  /** paths where both changed the same thing differently, as of document-paths.ts; what is in force stayed there */
  conflicts: readonly string[];
}

/**
 * Takes every change of the file that the dashboard has not contradicted. Mappings are joined by member, packages by
 * id, MCP servers by name, in the order that is in force; any other list is one value.
 */
export function mergeDocuments<T extends object>(versions: Versions<T>): Merge<T> {
  const conflicts: string[] = [];
  const merged = mergeAt([], versions, conflicts);
  // Documents are joined member by member, so the result has the members of documents.
  return { merged: merged as T, conflicts };
}

/** @returns those paths where what is in force still differs from what the file says */
export const openConflicts = (
  paths: readonly string[],
  { current, wanted }: Omit<Versions<object>, "baseline">,
): string[] => stillConflicting(paths, { inForce: changedPlaces(current), inFile: changedPlaces(wanted) });

const stillConflicting = (
  paths: readonly string[],
  { inForce, inFile }: { inForce: ValueAt; inFile: ValueAt },
): string[] => [...new Set(paths)].filter((path) => !isSame(inForce(path), inFile(path)));

/** `undefined` stands for nothing: the value was not there, or was taken away. */
function mergeAt(path: readonly string[], versions: Versions<unknown>, conflicts: string[]): unknown {
  const { baseline, current, wanted } = versions;
  if (isSame(baseline, wanted) || isSame(current, wanted)) return current;
  if (isSame(baseline, current)) return wanted;
  const ours = splitParts(path, current);
  const theirs = splitParts(path, wanted);
  if (!ours || !theirs || Array.isArray(current) !== Array.isArray(wanted)) {
    conflicts.push(displayPath(path));
    return current;
  }
  const before = splitParts(path, baseline);
  const parts = new Map<string, unknown>();
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const part = { baseline: before?.get(name), current: ours.get(name), wanted: theirs.get(name) };
    const joined = mergeAt([...path, name], part, conflicts);
    if (joined !== undefined) parts.set(name, joined);
  }
  return joinParts(parts, current);
}
