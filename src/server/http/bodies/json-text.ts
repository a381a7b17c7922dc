// Checks and parses JSON text within limits, and describes what is wrong with it. body.ts and scim/structure.ts turn problems
// into errors.

import { setImmediate } from "node:timers/promises";
import { pointerOf } from "../../../platform/errors.ts";
import { stringAt } from "../../../platform/json/names.ts";
import { parseInSteps } from "../../../platform/json/pieces.ts";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  NUMBERED_OBJECT_MEMBERS,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "../../../platform/json/shapes.ts";
import {
  findViolation,
  findViolationInSteps,
  type JsonLimits,
  type JsonViolation,
  NAME_CHARACTERS_MAX,
  NUMBER_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
  pointerAt,
} from "../../../platform/json/structure.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { excerpt } from "../../../platform/text/problem-list.ts";

/** Nesting depth limit of a JSON body. */
export const JSON_DEPTH_MAX = 64;
/** Limit on scalars, objects, lists and member names in a JSON body. */
export const JSON_VALUES_MAX = 250_000;

export const JSON_LIMITS: JsonLimits = { depthMax: JSON_DEPTH_MAX, valuesMax: JSON_VALUES_MAX };

/** A problem in a text, with an RFC 6901 pointer if one applies. */
export interface JsonProblem {
  message: string;
  pointer?: string;
}

/** Longer texts are checked, parsed and handled in separate turns of the event loop. */
export const ONE_TURN_CHARACTERS_MAX = 64 * 1024;

/**
 * Checks and parses a text. A long text takes several turns of the event loop, and the caller continues in a new turn.
 * @param errorOf creates the error to throw for a problem
 */
export async function parseWithin(
  text: string,
  limits: JsonLimits,
  errorOf: (fault: JsonProblem) => Error,
): Promise<unknown> {
  if (text.length <= ONE_TURN_CHARACTERS_MAX)
    return parseCheckedText(text, { limits, errorOf, flaw: findViolation(text, limits) });
  const { flaw, cuts } = await runInTurns(findViolationInSteps(text, limits));
  if (flaw) throw errorOf(faultOf(flaw, text, limits));
  await setImmediate();
  const value = await runInTurns(parseInSteps(text, cuts)).catch((error) => {
    throw errorOf(syntaxProblem(error));
  });
  await setImmediate();
  return value;
}

/** What was found in a text before it is parsed. */
export interface Checked {
  limits: JsonLimits;
  /** creates the error to throw for a problem */
  errorOf(fault: JsonProblem): Error;
  flaw: JsonViolation | undefined;
}

/** Parses a text that was checked. @throws the error for its flaw, or for its syntax */
export function parseCheckedText(text: string, { limits, errorOf, flaw }: Checked): unknown {
  if (flaw) throw errorOf(faultOf(flaw, text, limits));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw errorOf(syntaxProblem(error));
  }
}

function faultOf(flaw: JsonViolation, text: string, limits: JsonLimits): JsonProblem {
  if (flaw.kind === "list")
    return {
      message: `the list ${flaw.name} may have at most ${flaw.elementsMax} elements`,
      pointer: pointerOf([flaw.name]),
    };
  if (flaw.kind === "syntax")
    return { message: `the body is not valid JSON: unexpected character at index ${flaw.at}` };
  if (flaw.kind !== "duplicate") return { message: messages(limits)[flaw.kind] };
  const name = JSON.stringify(excerpt(stringAt(text, flaw.at)));
  const rule = limits.foldsCase ? "; names are compared without letter case" : "";
  return {
    message: `the member ${name} is duplicated in one object${rule}`,
    pointer: pointerAt(text, flaw.at),
  };
}

const messages = ({ depthMax, valuesMax }: JsonLimits) => ({
  depth: `the body is nested more than ${depthMax} levels deep`,
  values: `the body has more than ${valuesMax} values and names of members`,
  members: `an object of the body has more than ${OBJECT_MEMBERS_MAX} members`,
  shapes: `the objects of the body have more than ${OBJECT_SHAPES_MAX} different shapes`,
  largeObjects: `the objects of the body with more than ${SHAPE_MEMBERS_MAX} members have more than ${LARGE_OBJECT_MEMBERS_MAX} further members, where an object with a whole number as a name counts as ${NUMBERED_OBJECT_MEMBERS}`,
  name: `the name of a member has more than ${NAME_CHARACTERS_MAX} characters`,
  number: `a number of the body has more than ${NUMBER_CHARACTERS_MAX} characters`,
});

/**
 * @param error thrown by JSON.parse
 * @returns a description of the problem that quotes little of the text
 */
export function syntaxProblem(error: unknown): JsonProblem {
  const why = error instanceof Error ? `: ${excerpt(error.message.replace(/^JSON Parse error: /, ""))}` : "";
  return { message: `the body is not valid JSON${why}` };
}
