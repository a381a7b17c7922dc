// Reads free-form JSON objects within bounds, such as the settings of a package or harness. The service does not interpret them.

import { pointerOf } from "../../platform/errors.ts";
import { isJsonObject } from "../../platform/text/json-object.ts";
import {
  jsonTypeOf,
  type ObjectReader,
  type Place,
  PROTOTYPE_KEY,
} from "../../platform/text/object-reader.ts";
import type { ProblemList } from "../../platform/text/problem-list.ts";

/** size of one object as JSON */
export const FREE_FORM_OBJECT_BYTES_MAX = 65_536;
export const FREE_FORM_OBJECT_DEPTH_MAX = 32;

/** Reports every value that JSON cannot represent. Stops at the depth limit, so that hostile nesting costs little. */
const checkValue = ({ value, pointer }: Place, depth: number, problems: ProblemList): void => {
  if (typeof value === "number" && !Number.isFinite(value))
    problems.add(pointer, "must be a number that JSON can carry, not infinity or NaN");
  if (typeof value !== "object" || value === null) return;
  if (depth > FREE_FORM_OBJECT_DEPTH_MAX) {
    problems.add(pointer, `is nested deeper than ${FREE_FORM_OBJECT_DEPTH_MAX} levels`);
    return;
  }
  for (const [key, entry] of Object.entries(value)) {
    const place = { value: entry, pointer: pointer + pointerOf([key]) };
    if (key === PROTOTYPE_KEY) problems.add(place.pointer, "is a reserved key; choose another");
    else checkValue(place, depth + 1, problems);
  }
};

/** @returns the member unchanged; an empty object if it is absent or wrong. Wrong values are reported. */
export const readFreeFormObject = (members: ObjectReader, name: string): Record<string, unknown> => {
  const value = members.value(name);
  if (value === undefined) return {};
  if (!isJsonObject(value)) {
    members.report(`must be an object, not ${jsonTypeOf(value)}`, name);
    return {};
  }
  const problemsBefore = members.problems.count;
  checkValue({ value, pointer: members.at(name) }, 1, members.problems);
  if (members.problems.count > problemsBefore) return {};
  const sizeBytes = Buffer.byteLength(JSON.stringify(value));
  if (sizeBytes > FREE_FORM_OBJECT_BYTES_MAX)
    members.report(`has ${sizeBytes} bytes as JSON; the limit is ${FREE_FORM_OBJECT_BYTES_MAX}`, name);
  return { ...value };
};
