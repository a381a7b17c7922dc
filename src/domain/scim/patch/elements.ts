// Changes to the values of a multi-valued attribute: appended, replaced, removed, or changed where a filter matches. At most
// one of them is primary afterward (SCIM-73 to SCIM-76).
import { type ScimError, scimInvalid } from "../errors.ts";
import type { ScimObject, ScimValue } from "../model.ts";
import type { Attribute } from "../schema/schema.ts";
import {
  foldCase,
  hasContent,
  invalidValue,
  isUnassigned,
  multiplePrimaries,
  readAll,
  readElements,
  readParts,
  readSimple,
  sentList,
  tooManyValues,
  valuesMaxOf,
  type Wanted,
} from "../schema/values.ts";
import type { Change } from "./operations.ts";

type Elements = readonly ScimObject[];

/**
 * Changes the list as a whole.
 * @throws ScimError `invalidValue`
 */
export function changedList(before: Elements, wanted: Wanted, { op, value }: Change): Elements {
  if (op === "remove") return value === undefined ? [] : withoutListed(before, wanted, value);
  const given = readElements(value, wanted);
  return bounded(op === "add" ? appended(before, given, wanted.attribute) : given, wanted);
}

/** Refused immediately, even if a later operation would remove some, because comparing them all would take too long. */
function bounded(elements: Elements, wanted: Wanted): Elements {
  if (elements.length > valuesMaxOf(wanted.attribute)) throw tooManyValues(wanted);
  return elements;
}

/** An existing value gets its missing parts, and nothing is appended (SCIM-73). */
function appended(before: Elements, given: Elements, attribute: Attribute): Elements {
  const keyOf = (element: ScimObject) => JSON.stringify(identityOf(attribute, element));
  const elements = [...before];
  // The first of several equal values counts, so this sets it last.
  const positions = new Map(before.map((element, at) => [keyOf(element), at] as const).toReversed());
  let preferred: number | undefined;
  for (const element of given) {
    const key = keyOf(element);
    const at = positions.get(key) ?? elements.length;
    positions.set(key, at);
    elements[at] = { ...element, ...elements[at] };
    if (element.primary === true) preferred = at;
  }
  return preferred === undefined ? elements : withPrimary(elements, preferred);
}

const withPrimary = (elements: Elements, preferred: number): Elements =>
  elements.map((element, at) => {
    if (at === preferred) return { ...element, primary: true };
    return element.primary === true ? { ...element, primary: false } : element;
  });

/** The parts that identify a value: value and type, or all parts of a postal address. */
function identityOf({ subAttributes = [] }: Attribute, element: ScimObject): readonly (ScimValue | null)[] {
  const isValued = subAttributes.some(({ name }) => name === "value");
  return subAttributes
    .filter(({ name }) => (isValued ? name === "value" || name === "type" : name !== "primary"))
    .map(({ name, caseExact }) => {
      const part = element[name];
      return typeof part === "string" && !caseExact ? foldCase(part) : (part ?? null);
    });
}

/** Removes values with the same value, and the same type if one is given. */
function withoutListed(before: Elements, wanted: Wanted, value: unknown): Elements {
  if (isUnassigned(value)) return before;
  const { attribute, name } = wanted;
  const listed = readAll(sentList(value, wanted).entries(), ([at, raw]) => {
    const element = readParts(raw, { attribute, name: `${name}[${at}]` });
    if (hasContent(attribute, element)) return identityOf(attribute, element);
    throw invalidValue(`${name}[${at}] does not identify what to remove; send its value`);
  });
  return before.filter((element) => {
    const identity = identityOf(attribute, element);
    return !listed.some((named) => named.every((part, at) => part === null || part === identity[at]));
  });
}

/** The values of a list that a path selects. */
export interface Selection extends Wanted {
  /** the changed sub-attribute; undefined for the whole value */
  readonly sub: Attribute | undefined;
  isMatch(element: ScimObject): boolean;
  /** the values that a filter requires; undefined for none */
  fixed(): ScimObject | undefined;
  /** whether a replace without a match creates a value, like an add */
  readonly replaceCreates: boolean;
}

/**
 * Changes the values that the path selects, or creates one.
 * @throws ScimError `noTarget` if there is none to change and none can be created, `invalidValue`
 */
export function changedSelection(before: Elements, selection: Selection, change: Change): Elements {
  const given = change.op === "remove" ? undefined : readGiven(selection, change.value);
  if (!given && change.op === "add") return before;
  const matches = new Set(before.filter((element) => selection.isMatch(element)));
  if (matches.size > 0) {
    if (!given) return withoutMatches(before, selection, matches);
    const isMerged = change.op === "add" || selection.sub !== undefined;
    const keptOf = isMerged ? (element: ScimObject) => element : fixedPartsOf(selection);
    return withMatches(before, selection, { matches, given, keptOf });
  }
  if (change.op === "remove") return before;
  const fixed = selection.fixed();
  if (!fixed || (change.op === "replace" && !selection.replaceCreates)) throw nothingMatches(selection);
  return given ? withNew(before, selection, { ...fixed, ...given }) : before;
}

const nothingMatches = ({ name }: Selection): ScimError =>
  scimInvalid("noTarget", `no value of ${name} matches the filter of the path; add the value instead`);

/** @returns undefined if no value is given */
function readGiven({ attribute, name, sub }: Selection, raw: unknown): ScimObject | undefined {
  if (!sub) return isUnassigned(raw) ? undefined : readParts(raw, { attribute, name });
  const value = readSimple(raw, { attribute: sub, name: `${name}.${sub.name}` });
  return value === undefined ? undefined : { [sub.name]: value };
}

const withNew = (before: Elements, wanted: Wanted, element: ScimObject): Elements =>
  hasContent(wanted.attribute, element)
    ? bounded(appended(before, [element], wanted.attribute), wanted)
    : before;

function withoutMatches(
  before: Elements,
  { attribute, sub }: Selection,
  matches: Matched["matches"],
): Elements {
  if (!sub) return before.filter((element) => !matches.has(element));
  return before
    .map((element) => {
      const { [sub.name]: _, ...others } = element;
      return matches.has(element) ? others : element;
    })
    .filter((element) => hasContent(attribute, element));
}

/** A replacement without the filtered attribute keeps it, in the value's spelling. */
function fixedPartsOf(selection: Selection): (element: ScimObject) => ScimObject {
  const names = Object.keys(selection.fixed() ?? {});
  return (element) => Object.fromEntries(Object.entries(element).filter(([name]) => names.includes(name)));
}

interface Matched {
  readonly matches: ReadonlySet<ScimObject>;
  readonly given: ScimObject;
  /** the parts of a match that stay */
  keptOf(element: ScimObject): ScimObject;
}

function withMatches(before: Elements, selection: Selection, { matches, given, keptOf }: Matched): Elements {
  if (given.primary === true && matches.size > 1) throw multiplePrimaries(selection.name);
  const after = before.map((element) => (matches.has(element) ? { ...keptOf(element), ...given } : element));
  const preferred = before.findIndex((element) => matches.has(element));
  return (given.primary === true ? withPrimary(after, preferred) : after).filter((element) =>
    hasContent(selection.attribute, element),
  );
}
