// Brings a draft up to date with newer revisions by a three-way merge of the draft's base revision, the current revision, and
// the draft. A pure function of plain values, because a thread may run it (tasks.ts); draft-publishing.ts stores the result.

import { isDeepStrictEqual } from "node:util";
import { pointerOf, tokensOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { carryOverAudiences, listAudiences } from "../delivery/audiences.ts";
import {
  packageIds,
  withOwnOverrides,
  withOwnRules,
  withoutStrayOverrides,
} from "../document/package-overrides.ts";
import type { GovernanceConfig, PackageAudience, PackageAudiences } from "../model.ts";
import { changedPlaces, splitParts, type ValueAt } from "../publishing/document-paths.ts";
import { type FinalizeContext, finalizeUnchanged, withoutRevisionFields } from "../publishing/finalize.ts";
import { mergeDocuments, UNKNOWN_BASELINE, type Versions } from "../publishing/merge.ts";
import { type IdsBySide, idsBySide } from "../shown/change-list.ts";
import { hasSecrets } from "../shown/hidden-secrets.ts";
import { type Shown, shownSides } from "../shown/shown-values.ts";

/** The value to keep at a place that both changed: the draft's, or the published one. */
export type Decision = "mine" | "theirs";

/** A place that both changed differently; a side without a value lacks its member. */
export interface Conflict {
  /** as in document-paths.ts; an audience is a place below `/package_audiences` */
  path: string;
  /** set if only the order of a list is undecided; then the values are the names of its entries */
  order?: true;
  base?: unknown;
  theirs?: unknown;
  mine?: unknown;
}

export interface MergeRequest {
  /** each a `Policy` as JSON; the base is undefined if that revision no longer exists */
  base: string | undefined;
  current: string;
  mine: string;
  /** by path */
  decisions: Readonly<Record<string, Decision>>;
  /** the `Policy` as JSON that the decisions are about, if not `current`; decisions at places that differ are ignored */
  decidedOn: string | undefined;
  /** whether the list of undecided places hides secrets */
  isHidden: boolean;
  frame: FinalizeContext;
}

/** The content of a revision or a draft. */
export interface Policy {
  document: GovernanceConfig;
  audiences: PackageAudiences;
}

export interface Merged {
  undecided: Undecided;
  /** decisions by path, without ignored ones */
  decisions: Readonly<Record<string, Decision>>;
  /** a stamped `Policy` as JSON, which the review checks; empty while a place is undecided */
  merged: string;
}

/** Undecided places. Like a ChangeList, it is cheap to receive from a thread. */
export type ListedConflict = Shown<Conflict, MergeSide> & {
  /** users and groups of an audience; everyone if both are missing */
  audience?: { people: IdsBySide; groups: IdsBySide };
};

type MergeSide = (typeof SIDES)[number];

export interface Undecided {
  count: number;
  /** the first PLACES_LISTED_MAX */
  listed: readonly ListedConflict[];
  /** whether a value in these is hidden */
  isHidden: boolean;
  /** every Conflict, as a JSON array */
  text: string;
}

/** Number of places to decide on one page; further ones follow. */
export const PLACES_LISTED_MAX = 40;

export const NOTHING_UNDECIDED: Undecided = { count: 0, listed: [], isHidden: false, text: "[]" };

/** @returns the document with the changes of both, and with the published value at undecided places */
export function mergeDraft(request: MergeRequest): Merged {
  const { base, current, mine, isHidden, frame } = request;
  const versions: Versions<object> = {
    baseline: base === undefined ? UNKNOWN_BASELINE : read(base),
    current: read(current),
    wanted: read(mine),
  };
  const decided = decisionsOn(versions.current, request);
  const isMine = (path: string) => decided.get(path) === "mine";
  const { merged, conflicts, orders } = mergeDocuments<object>(versions, isMine);
  const isAsked = askedIn(versions);
  const open = [...conflicts, ...orders].filter((path) => isAsked(path) && !decided.has(path));
  const places = {
    base: base === undefined ? () => undefined : changedPlaces(versions.baseline),
    theirs: changedPlaces(versions.current),
    mine: changedPlaces(versions.wanted),
  };
  const undecided = open.map((path) =>
    orders.includes(path) ? orderConflictAt(path, places) : conflictAt(path, places),
  );
  return {
    undecided: undecidedOf(undecided, isHidden),
    decisions: Object.fromEntries(decided),
    merged: undecided.length > 0 ? "" : JSON.stringify(policyOf(merged, { versions, decided, frame })),
  };
}

/** @returns whether a place must be decided; rules of a package that only one side has follow the package */
function askedIn({ current, wanted }: Versions<object>): (path: string) => boolean {
  const [ours, theirs] = [current, wanted].map((side) => packageIds(partsOf(side).document));
  return (path) => {
    const [first, second, third, fourth] = tokensOf(path);
    const id = first === "package_audiences" ? second : third === "package_overrides" ? fourth : undefined;
    return id === undefined || (ours?.has(id) === true && theirs?.has(id) === true);
  };
}

interface Merging {
  versions: Versions<object>;
  decided: ReadonlyMap<string, Decision>;
  frame: FinalizeContext;
}

/** @param merged a document with its audiences */
function policyOf(merged: object, { versions, decided, frame }: Merging): Policy {
  const whole = withWholePackages(partsOf(merged), versions, decided);
  const document = finalizeUnchanged(withoutStrayOverrides(whole.document), { ...frame, problems: [] });
  const audiences = carryOverAudiences(whole.audiences, document.packages);
  return { document, audiences: restrictedOf(audiences) };
}

const restrictedOf = (audiences: PackageAudiences): PackageAudiences =>
  Object.fromEntries(Object.entries(audiences).filter(([, { scope }]) => scope === "users"));

function partsOf(whole: object): Policy {
  const { package_audiences: audiences = {}, ...document } = { package_audiences: {}, ...whole };
  // Documents are merged member by member, so the result has the members of documents.
  return { document: document as GovernanceConfig, audiences };
}

/**
 * A package that only one side has keeps the audience and the overrides of that side; on the other side they ended with the
 * package. A package that both added keeps the overrides of the chosen side.
 */
function withWholePackages(merged: Policy, versions: Versions<object>, decided: Merging["decided"]): Policy {
  const owners = new Map(ownersOf(merged.document, versions));
  const chosen = new Map([...owners, ...chosenOf(merged.document, versions, decided)]);
  const documents = new Map([...chosen].map(([id, side]) => [id, side.document]));
  const audiences = withOwnRules(merged.audiences, owners, (side) => side.audiences);
  return { document: withOwnOverrides(merged.document, documents), audiences };
}

/** @returns the side of each package that only one side has */
function ownersOf({ packages }: GovernanceConfig, { current, wanted }: Versions<object>) {
  const known = [current, wanted].map(partsOf).map((side) => ({ side, ids: packageIds(side.document) }));
  return packages.flatMap(({ id }): [string, Policy][] => {
    const [owner, ...others] = known.filter(({ ids }) => ids.has(id));
    return owner && others.length === 0 ? [[id, owner.side]] : [];
  });
}

/** @returns the chosen side of each package that both sides added */
function chosenOf(
  { packages }: GovernanceConfig,
  { baseline, current, wanted }: Versions<object>,
  decided: Merging["decided"],
): [string, Policy][] {
  if (baseline === UNKNOWN_BASELINE) return [];
  const former = packageIds(partsOf(baseline).document);
  const sides = { theirs: partsOf(current), mine: partsOf(wanted) };
  return packages.flatMap(({ id }): [string, Policy][] => {
    const decision = former.has(id) ? undefined : decided.get(pointerOf(["packages", id]));
    return decision ? [[id, sides[decision]]] : [];
  });
}

/** @returns the decisions about values that are still published */
function decisionsOn(
  published: object,
  { decidedOn, decisions }: MergeRequest,
): ReadonlyMap<string, Decision> {
  const made = Object.entries(decisions);
  if (decidedOn === undefined) return new Map(made);
  const [seen, now] = [changedPlaces(read(decidedOn)), changedPlaces(published)];
  return new Map(made.filter(([path]) => isDeepStrictEqual(seen(path), now(path))));
}

function undecidedOf(places: readonly Conflict[], isHidden: boolean): Undecided {
  const first = places.slice(0, PLACES_LISTED_MAX);
  return {
    count: places.length,
    listed: first.map((place) => ({
      ...shownSides(place, { names: SIDES, isHidden }),
      ...audienceAt(place),
    })),
    isHidden:
      isHidden && first.some((place) => SIDES.some((side) => hasSecrets(place[side], tokensOf(place.path)))),
    text: JSON.stringify(places),
  };
}

function audienceAt({ path, ...place }: Conflict): Pick<ListedConflict, "audience"> {
  if (tokensOf(path)[0] !== "package_audiences") return {};
  const listed = (member: keyof PackageAudience) =>
    idsBySide(
      Object.fromEntries(
        SIDES.filter((side) => isJsonObject(place[side])).map((side) => [
          side,
          Object(place[side])[member] ?? [],
        ]),
      ),
    );
  return { audience: { people: listed("user_ids"), groups: listed("group_ids") } };
}

const SIDES = ["base", "theirs", "mine"] as const;

/**
 * @returns the document with the audience of each package in the member `package_audiences`, including packages for everyone,
 * because that is their author's choice
 */
const documentWithAudiences = (policy: {
  document: GovernanceConfig;
  audiences: PackageAudiences;
}): object => ({ ...policy.document, package_audiences: listAudiences(policy) });

/** @param text a `Policy` as JSON */
function read(text: string): object {
  const { document, audiences }: Policy = JSON.parse(text);
  return documentWithAudiences({ document: withoutRevisionFields(document), audiences });
}

type Places = Readonly<Record<MergeSide, ValueAt>>;

function conflictAt(path: string, places: Places): Conflict {
  const at = (side: keyof Places) => {
    const value = places[side](path);
    return value === undefined ? {} : { [side]: value };
  };
  return { path, ...at("base"), ...at("theirs"), ...at("mine") };
}

function orderConflictAt(path: string, { base, theirs, mine }: Places): Conflict {
  const names = (valueAt: ValueAt) => (place: string) => {
    const parts = splitParts(tokensOf(place), valueAt(place));
    return parts && [...parts.keys()];
  };
  return {
    ...conflictAt(path, { base: names(base), theirs: names(theirs), mine: names(mine) }),
    order: true,
  };
}
