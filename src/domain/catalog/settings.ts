// The free-form settings of a package: any JSON object within bounds. What the settings mean is the package's business.

import { pointerOf } from "../errors.ts";
import { kindOf, type Members, type Place, PROTOTYPE_KEY } from "./members.ts";
import { type ManagedPackage, SETTINGS_BYTES_MAX, SETTINGS_DEPTH_MAX } from "./model.ts";
import type { ProblemList } from "./problem-list.ts";

/** Reports every place that JSON cannot carry; stops at the depth limit, so hostile nesting costs nothing. */
const checkValue = ({ value, pointer }: Place, depth: number, problems: ProblemList): void => {
  if (typeof value === "number" && !Number.isFinite(value))
    problems.add(pointer, "must be a number that JSON can carry, not infinite");
  if (typeof value !== "object" || value === null) return;
  if (depth > SETTINGS_DEPTH_MAX) {
    problems.add(pointer, `is nested deeper than ${SETTINGS_DEPTH_MAX} levels`);
    return;
  }
  for (const [key, entry] of Object.entries(value)) {
    const place = { value: entry, pointer: pointer + pointerOf([key]) };
    if (key === PROTOTYPE_KEY) problems.add(place.pointer, "is a reserved key; choose another");
    else checkValue(place, depth + 1, problems);
  }
};

/** Reads `settings` of a package. @returns the settings as they are; empty when absent or wrong, which is reported */
export const readSettings = (members: Members): ManagedPackage["settings"] => {
  const value = members.value("settings");
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    members.report(`must be an object, not ${kindOf(value)}`, "settings");
    return {};
  }
  const problemsBefore = members.problems.count;
  checkValue({ value, pointer: members.at("settings") }, 1, members.problems);
  if (members.problems.count > problemsBefore) return {};
  const sizeBytes = Buffer.byteLength(JSON.stringify(value));
  if (sizeBytes > SETTINGS_BYTES_MAX)
    members.report(`has ${sizeBytes} bytes as JSON; the limit is ${SETTINGS_BYTES_MAX}`, "settings");
  return { ...value };
};
