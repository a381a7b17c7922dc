// JSON text within limits: what is wrong with it before and while it is parsed, in words. How a face refuses it is in body.ts
// and scim/structure.ts.

import { stringAt } from "../domain/json-names.ts";
import { findFlaw, type JsonLimits, OBJECT_MEMBERS_MAX, pointerAt } from "../domain/json-structure.ts";
import { excerpt } from "./excerpt.ts";

/** Objects and lists inside each other in a JSON body. */
export const JSON_DEPTH_MAX = 64;
/** Scalars, objects, lists and names of members in a JSON body. */
export const JSON_VALUES_MAX = 250_000;

export const JSON_LIMITS: JsonLimits = { depthMax: JSON_DEPTH_MAX, valuesMax: JSON_VALUES_MAX };

/** What is wrong with a text, and the RFC 6901 pointer to it where one can be given. */
export interface JsonFault {
  message: string;
  pointer?: string;
}

/** @returns why the text must not be parsed; undefined where it may be */
export function structureFault(text: string, limits: JsonLimits): JsonFault | undefined {
  const flaw = findFlaw(text, limits);
  if (!flaw) return undefined;
  if (flaw.kind === "depth")
    return { message: `the body is nested more than ${limits.depthMax} levels deep` };
  if (flaw.kind === "values")
    return { message: `the body has more than ${limits.valuesMax} values and names of members` };
  if (flaw.kind === "members")
    return { message: `an object of the body has more than ${OBJECT_MEMBERS_MAX} members` };
  const name = JSON.stringify(excerpt(stringAt(text, flaw.at)));
  const rule = limits.foldsCase ? "; letter case does not count" : "";
  return {
    message: `the member ${name} is twice in one object${rule}`,
    pointer: pointerAt(text, flaw.at),
  };
}

/** @param error what JSON.parse threw @returns what is wrong, with little of the text */
export function syntaxFault(error: unknown): JsonFault {
  const why = error instanceof Error ? `: ${excerpt(error.message.replace(/^JSON Parse error: /, ""))}` : "";
  return { message: `the body is not valid JSON${why}` };
}
