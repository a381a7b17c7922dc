// PATCH of a user: applies all operations to one working copy and checks the result as a whole. users/ checks whether its names are
// free and applies the effects.
import { isDeepStrictEqual } from "node:util";
import { runSynchronously } from "../../../platform/steps.ts";
import { ScimError, scimInvalid } from "../errors.ts";
import { matchesElement } from "../filter/evaluate.ts";
import type { Filter } from "../filter/model.ts";
import { equalities } from "../filter/named-values.ts";
import { assign, checkUser } from "../messages/read-resource.ts";
import type { ScimObject, ScimProfile } from "../model.ts";
import type { AttributePath } from "../schema/attribute-path.ts";
import { arrangedUser, elementsOf, withMember } from "../schema/document.ts";
import type { Attribute } from "../schema/schema.ts";
import { readParts } from "../schema/values.ts";
import { ADDRESS_NEEDED, findAddress, shownEmails } from "../users/user-columns.ts";
import { changedSelection, type Selection } from "./elements.ts";
import { eachStep, forEachOperation, type Patched, type Step } from "./operations.ts";

/**
 * Maximum number of comparisons in all operations of a request, which take about 100 ms. Each operation on a list reads every
 * value, and a filter several parts of each: ten thousand operations on long lists would block the event loop too long (SCIM-125).
 */
export const PATCH_COMPARISONS_MAX = 200_000;

/**
 * @param doc the user's document
 * @param body parsed JSON of the PATCH message
 * @returns the resulting document; equal to the given one if nothing changed
 * @throws ScimError 400 with the index of the faulty operation if there is one, 413
 * @source RFC 7644 section 3.5.2
 */
export function patchUser(doc: ScimObject, body: unknown, { id, profile }: Patched): ScimObject {
  let changed = doc;
  const comparisons = new Comparisons();
  const carryOut = (step: Step): undefined => {
    comparisons.add(changed, step);
    changed = applied(changed, step, profile);
  };
  runSynchronously(
    forEachOperation(body, (operation) => eachStep(operation, { type: "User", id, carryOut })),
  );
  const patched = arrangedUser(changed);
  const hasLostEmails = elementsOf(doc.emails).length > 0 && elementsOf(patched.emails).length === 0;
  if (hasLostEmails && findAddress(patched) === undefined) throw scimInvalid("mutability", ADDRESS_NEEDED);
  checkUser(patched);
  return patched;
}

function applied(doc: ScimObject, { target, change }: Step, profile: ScimProfile): ScimObject {
  const { path, elements } = target;
  if (!elements || !path.attribute) return assign(doc, path, change);
  const { name } = path.attribute;
  // A filter also matches the derived e-mail, which is then stored with the change (SCIM-13).
  const before = name === "emails" ? shownEmails(doc) : elementsOf(doc[name]);
  const after = changedSelection(before, selected(path, elements, profile), change);
  return isDeepStrictEqual(after, before) ? doc : withMember(doc, name, after);
}

function selected({ attribute, sub }: AttributePath, filter: Filter, profile: ScimProfile): Selection {
  const { name } = attribute;
  return {
    attribute,
    name,
    sub,
    isMatch: (element) => matchesElement(filter, element),
    fixed: () => fixedBy(filter, attribute),
    replaceCreates: profile === "entra",
  };
}

function fixedBy(filter: Filter, attribute: Attribute): ScimObject | undefined {
  const parts = equalities(filter);
  if (!parts) return undefined;
  const sent = Object.fromEntries([...parts].map(([{ name }, value]) => [name, value]));
  return readParts(sent, { attribute, name: attribute.name });
}

/** Counts the comparisons of one request. */
class Comparisons {
  #count = 0;

  /**
   * Call it before a step is executed.
   * @param doc the document before the step
   * @throws ScimError 413
   */
  add(doc: ScimObject, { target: { path, elements }, change: { value } }: Step): void {
    const { attribute } = path;
    if (!attribute?.multiValued) return;
    const valueCount = Math.max(elementsOf(doc[attribute.name]).length, 1);
    this.#count += valueCount * (elements ? testsIn(elements) : entriesIn(value));
    if (this.#count <= PATCH_COMPARISONS_MAX) return;
    const detail = `a request can compare at most ${PATCH_COMPARISONS_MAX} list values; send the other operations in another request`;
    throw new ScimError(413, undefined, detail);
  }
}

function testsIn(filter: Filter): number {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.parts.reduce((sum, part) => sum + testsIn(part), 0);
    case "not":
      return testsIn(filter.part);
    case "element":
      return testsIn(filter.filter);
    default:
      return 1;
  }
}

const entriesIn = (value: unknown): number => (Array.isArray(value) ? Math.max(value.length, 1) : 1);
