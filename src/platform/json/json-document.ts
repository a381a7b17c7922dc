// Parses a YAML file whose content is JSON with the runtime's parser, which is a hundred times as fast as a YAML reader.
// Problems have the same texts as those of the YAML reader.

import { type Problem, tokensOf } from "../errors.ts";
import { PROBLEMS_MAX, type ProblemList, quoted } from "../text/problem-list.ts";
import { positionsIn } from "../text/text-positions.ts";
import { NOT_FINITE, reportUnusable } from "../text/unusable-values.ts";
import type { YamlText } from "../text/yaml-source.ts";
import { endOfString, stringAt } from "./names.ts";
import { changedNumbersIn } from "./numbers.ts";
import { jsonPositions } from "./positions.ts";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  NUMBERED_OBJECT_MEMBERS,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "./shapes.ts";
import {
  findViolations,
  type JsonLimits,
  type JsonViolation,
  NAME_CHARACTERS_MAX,
  NUMBER_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
  pointerAt,
} from "./structure.ts";

const JSON_START = /^[ \t\r\n]*[[{]/;
const RESERVED_KEY = /__proto__|\\u005f/i;
const SCALAR = /(?:-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?=[\s,\]}]|$)/y;

/**
 * @param text without a byte order mark
 * @returns undefined for text that is not JSON; it may be YAML
 */
export function readJsonDocument(
  text: string,
  problems: ProblemList,
  limits: JsonLimits,
): YamlText | undefined {
  if (!JSON_START.test(text)) return undefined;
  const positionsOf: YamlText["positionsOf"] = (pointers) => jsonPositions(text, pointers.map(tokensOf));
  const violations = findViolations(text, limits);
  if (violations.length > 0) {
    if (!isJsonUntilFirst(violations, text)) return undefined;
    reportViolations(violations, { text, limits, problems });
    return { content: undefined, positionsOf };
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  const unusable = [...numberProblems(text), ...keyProblems(content, text, limits)];
  for (const { pointer, detail, ...position } of unusable.sort(byPosition))
    problems.add(pointer, detail, position);
  return { content: unusable.length === 0 ? content : undefined, positionsOf };
}

/** Problems that are only counted need no position, because finding one takes linear time. */
function numberProblems(text: string): Problem[] {
  const changed = changedNumbersIn(text);
  const positionAt = positionsIn(text);
  return changed.map(({ at, detail }, index) =>
    index < PROBLEMS_MAX
      ? { pointer: pointerAt(text, at), detail, ...positionAt(at) }
      : { pointer: "", detail },
  );
}

function keyProblems(content: unknown, text: string, { depthMax }: JsonLimits): Problem[] {
  if (!RESERVED_KEY.test(text)) return [];
  const found: Problem[] = [];
  const report = (pointer: string, detail: string) => {
    if (detail !== NOT_FINITE) found.push({ pointer, detail });
  };
  reportUnusable(content, { depthMax, report });
  const positions = jsonPositions(
    text,
    found.slice(0, PROBLEMS_MAX).map(({ pointer }) => tokensOf(pointer)),
  );
  return found.map((problem, at) => ({ ...problem, ...positions[at] }));
}

const byPosition = (one: Problem, other: Problem): number =>
  (one.line ?? Infinity) - (other.line ?? Infinity) || (one.column ?? 0) - (other.column ?? 0);

/** @returns false if the text before the first violation is not JSON; it may be valid YAML */
const isJsonUntilFirst = ([first]: readonly JsonViolation[], text: string): boolean =>
  first !== undefined && first.kind !== "list" && first.kind !== "syntax" && isJsonUntil(text, first.at);

function reportViolations(
  violations: readonly JsonViolation[],
  { text, limits, problems }: { text: string; limits: JsonLimits; problems: ProblemList },
): void {
  const positionAt = positionsIn(text);
  for (const violation of violations) {
    if (violation.kind === "list" || violation.kind === "syntax") continue;
    const { kind, at } = violation;
    if (problems.isFull) problems.add("", "");
    else if (kind !== "duplicate") problems.add("", details(limits)[kind], positionAt(at));
    else {
      const detail = `the key ${quoted(stringAt(text, at))} occurs here a second time`;
      problems.add(pointerAt(text, at), detail, positionAt(at));
    }
  }
}

const details = ({ depthMax, valuesMax }: JsonLimits) => ({
  depth: `is nested deeper than ${depthMax} levels`,
  values: `has more than ${valuesMax} values and names`,
  members: `has an object of more than ${OBJECT_MEMBERS_MAX} members`,
  shapes: `has objects of more than ${OBJECT_SHAPES_MAX} different shapes`,
  largeObjects: `has more than ${LARGE_OBJECT_MEMBERS_MAX} members beyond the first ${SHAPE_MEMBERS_MAX} of its objects; an object with a whole number as a key counts as ${NUMBERED_OBJECT_MEMBERS}`,
  name: `has a key of more than ${NAME_CHARACTERS_MAX} characters`,
  number: `has a number of more than ${NUMBER_CHARACTERS_MAX} characters`,
});

/** @param last index of the last character to check @returns whether the text up to it consists of JSON tokens */
function isJsonUntil(text: string, last: number): boolean {
  let canBegin = true;
  for (let at = 0; at <= last; at += 1) {
    const character = text.charAt(at);
    if (" \t\r\n".includes(character)) continue;
    if ("[{]},:".includes(character)) {
      canBegin = !"]}".includes(character);
      continue;
    }
    if (!canBegin) return false;
    canBegin = false;
    if (character === '"') at = endOfString(text, at);
    else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text)) return false;
      at = SCALAR.lastIndex - 1;
    }
  }
  return true;
}
