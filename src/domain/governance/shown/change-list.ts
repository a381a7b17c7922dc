// The differences between two policies, in a form that is cheap to copy from a thread: there may be tens of thousands, and
// copying them as objects would make other requests wait. A page lists the first ones; all other callers read the text.
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { type Change, isStamp } from "../publishing/diff.ts";
import { leavesOf } from "../reading/policy-lines.ts";
import { hasSecrets } from "./hidden-secrets.ts";
import { type Shown, shownSides } from "./shown-values.ts";

/** Maximum number of places that a page lists; it counts the others. */
export const CHANGES_LISTED_MAX = 200;

/** Maximum number of an audience's ids on one side of a place, whose names a page shows. */
export const IDS_NAMED_MAX = 10;

export type ListedChange = Shown<Change, "before" | "after"> & NamedSides;

export interface NamedSides {
  /** ids of the users or groups of an audience */
  ids?: IdsBySide;
}

/** Lists by the name of the side; a side without a list is missing. */
export type IdsBySide = Readonly<Record<string, AudienceIds>>;

export interface AudienceIds {
  /** at most IDS_NAMED_MAX, starting with those that another side lacks */
  first: readonly string[];
  count: number;
}

export interface ChangeList {
  /** number of changes by an author */
  count: number;
  /** the first CHANGES_LISTED_MAX of their places; an added or removed part is listed value by value */
  listed: readonly ListedChange[];
  /** number of places that are not listed */
  left: number;
  /** changes that publishing adds automatically */
  stamped: readonly ListedChange[];
  /** every Change, as a JSON array */
  text: string;
  /** whether one of the documents has secrets, hidden or not */
  hasSecrets: boolean;
}

interface Compared {
  /** whether the list hides secrets; the text always has them */
  isHidden: boolean;
  /** both documents */
  documents: readonly object[];
}

/** @returns the changes of two policies */
export function changeListOf(changes: readonly Change[], { isHidden, documents }: Compared): ChangeList {
  const shown = (change: Change): ListedChange => ({
    ...shownSides(change, { names: ["before", "after"], isHidden }),
    ...audienceIdsOf(change),
  });
  const written = changes.filter((change) => !isStamp(change));
  const places = written.flatMap(inParts);
  const listed = places.slice(0, CHANGES_LISTED_MAX).map(shown);
  return {
    count: written.length,
    listed,
    left: places.length - listed.length,
    stamped: changes.filter(isStamp).map(shown),
    text: JSON.stringify(changes),
    hasSecrets: documents.some((document) => hasSecrets(document)),
  };
}

export const changesIn = ({ text }: ChangeList): Change[] => JSON.parse(text);

/** @returns whether nothing differs */
export const isWithoutChanges = ({ count, stamped }: ChangeList): boolean => count + stamped.length === 0;

const AUDIENCE_IDS = /^\/package_audiences\/[^/]+\/(?:user_ids|group_ids)$/;

function audienceIdsOf(change: Change): NamedSides {
  return AUDIENCE_IDS.test(change.path) ? { ids: idsBySide(change) } : {};
}

/** @param sides lists of ids by the name of the side; anything else is ignored */
export function idsBySide(sides: object): IdsBySide {
  const lists = Object.entries(sides).flatMap(([side, value]): [string, string[]][] =>
    Array.isArray(value) ? [[side, value.map(String)]] : [],
  );
  const shared = lists.reduce((ids, [, list]) => ids.intersection(new Set(list)), new Set(lists[0]?.[1]));
  return Object.fromEntries(lists.map(([side, list]) => [side, firstIds(list, shared)]));
}

function firstIds(ids: readonly string[], shared: ReadonlySet<string>): AudienceIds {
  const own = ids.filter((id) => !shared.has(id));
  const both = ids.filter((id) => shared.has(id));
  return { first: [...own, ...both].slice(0, IDS_NAMED_MAX), count: ids.length };
}

function inParts(change: Change): readonly Change[] {
  const { path } = change;
  const side = "before" in change ? ("after" in change ? undefined : "before") : "after";
  const value = side && change[side];
  if (side === undefined || !isJsonObject(value)) return [change];
  const leaves = leavesOf(value, path);
  return leaves.length === 0 ? [change] : leaves.map((leaf) => ({ path: leaf.pointer, [side]: leaf.value }));
}
