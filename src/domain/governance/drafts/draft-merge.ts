// Brings a draft up to date with what was published since it began, in three ways: the revision it began from, the current one,
// and the draft. A pure function of plain values, because a thread may run it (tasks.ts); draft-updates.ts stores the result.

import type { GovernanceConfig, PackageAudiences } from "../model.ts";
import { changedPlaces, type ValueAt } from "../publishing/document-paths.ts";
import { withoutRevisionFields } from "../publishing/finalize.ts";
import { mergeDocuments } from "../publishing/merge.ts";
import { wholeOf } from "./whole.ts";

/** The value to keep at a place that both changed: the draft's, or the published one. */
export type Decision = "mine" | "theirs";

/** A place that both changed differently; a side without a value there lacks its member. */
export interface Conflict {
  /** as in document-paths.ts; an audience is a place below `/package_audiences` */
  path: string;
  base?: unknown;
  theirs?: unknown;
  mine?: unknown;
}

export interface MergeRequest {
  /** a `Policy` as JSON each; the base is undefined if that revision is gone */
  base: string | undefined;
  current: string;
  mine: string;
  /** by path */
  decisions: Readonly<Record<string, Decision>>;
}

/** The content of a revision or a draft. */
export interface Policy {
  document: GovernanceConfig;
  audiences: PackageAudiences;
}

export interface Merged {
  /** places that are not decided yet */
  undecided: Conflict[];
  /** a `Policy` as JSON, without stamps */
  merged: string;
}

/** @returns the changes of both; the published value at an undecided place */
export function mergeDraft({ base, current, mine, decisions }: MergeRequest): Merged {
  const read = (text: string) => sayingOf(JSON.parse(text));
  const versions = {
    baseline: base === undefined ? {} : read(base),
    current: read(current),
    wanted: read(mine),
  };
  const decided = new Map(Object.entries(decisions));
  const { merged, conflicts } = mergeDocuments<object>(versions, (path) => decided.get(path) === "mine");
  const undecided = conflicts.filter((path) => !decided.has(path));
  const { package_audiences: audiences = {}, ...document } = { package_audiences: {}, ...merged };
  const places = {
    base: changedPlaces(versions.baseline),
    theirs: changedPlaces(versions.current),
    mine: changedPlaces(versions.wanted),
  };
  return {
    undecided: undecided.map((path) => conflictAt(path, places)),
    merged: JSON.stringify({ document, audiences }),
  };
}

const sayingOf = ({ document, audiences }: Policy): object =>
  wholeOf({ document: withoutRevisionFields(document), audiences });

function conflictAt(path: string, places: Readonly<Record<"base" | "theirs" | "mine", ValueAt>>): Conflict {
  const at = (side: keyof typeof places) => {
    const value = places[side](path);
    return value === undefined ? {} : { [side]: value };
  };
  return { path, ...at("base"), ...at("theirs"), ...at("mine") };
}
