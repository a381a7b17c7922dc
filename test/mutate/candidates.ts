// The mutations of all places, without those that make no difference. run.ts takes a sample of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EQUIVALENT, type Equivalent } from "./equivalent.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { PLACES, type Place } from "./places.ts";
import { filesOf, ROOT } from "./workplace.ts";

/** A mutation of a file of a place. */
export interface Candidate {
  placeName: string;
  place: Place;
  file: string;
  mutation: Mutation;
  /** the replaced text */
  before: string;
  /** the line where it starts */
  lineText: string;
}

/** White space as one space each. */
export const squeezed = (text: string): string => text.replace(/\s+/g, " ");

/** @returns whether the entry names the mutation */
export const isNamedBy = (
  { file, mutation, before, lineText }: Candidate,
  { file: of, kind = mutation.kind, contains, drops }: Equivalent,
): boolean =>
  of === file &&
  [kind].flat().includes(mutation.kind) &&
  !(drops && squeezed(mutation.text).includes(drops)) &&
  [before, lineText].some((text) => squeezed(text).includes(contains));

export const isEquivalent = (candidate: Candidate): boolean =>
  EQUIVALENT.some((equivalent) => isNamedBy(candidate, equivalent));

/** @returns every mutation of the places, equivalent or not; a file belongs to the first place that has it */
export function candidatesIn(placeNames: readonly string[]): Candidate[] {
  const seen = new Set<string>();
  return placeNames.flatMap((placeName) => {
    const place = PLACES[placeName];
    if (!place) return [];
    const files = filesOf(place.files).filter((file) => !seen.has(file));
    for (const file of files) seen.add(file);
    return files.flatMap((file) => {
      const source = readFileSync(join(ROOT, file), "utf8");
      const lines = source.split("\n");
      return mutationsOf(source).map((mutation) => ({
        placeName,
        place,
        file,
        mutation,
        before: source.slice(mutation.start, mutation.end),
        lineText: lines[mutation.line - 1] ?? "",
      }));
    });
  });
}
