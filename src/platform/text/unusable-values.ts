// Finds values that a parser may produce but that must not be stored: infinite numbers, members that replace the prototype of
// an object, and texts that UTF-8 or other programs cannot represent.

import { pointerOf } from "../errors.ts";
import { isJsonObject } from "../json/json-object.ts";
import { isUnicodeText, NOT_UNICODE, PROTOTYPE_KEY, RESERVED_KEY } from "./object-reader.ts";

export const NOT_FINITE = "must be a number that JSON can represent, not infinity or NaN";

interface Walk {
  /** nesting levels of objects and lists; a deeper value is reported and not searched */
  depthMax: number;
  /** @param pointer from the searched value */
  report(pointer: string, detail: string): void;
}

/** Reports every such value, and every value that is nested too deeply. */
export const reportUnusable = (value: unknown, walk: Walk): void => search(value, [], walk);

/** Builds pointers only for reports, because large values have hundreds of thousands of members. */
function search(value: unknown, path: (string | number)[], walk: Walk): void {
  const { depthMax, report } = walk;
  if (typeof value === "number" && !Number.isFinite(value)) report(pointerOf(path), NOT_FINITE);
  if (typeof value === "string" && !isUnicodeText(value)) report(pointerOf(path), NOT_UNICODE);
  if (typeof value !== "object" || value === null) return;
  if (path.length >= depthMax) {
    report(pointerOf(path), `is nested deeper than ${depthMax} levels`);
    return;
  }
  const parts = Array.isArray(value) ? value.entries() : isJsonObject(value) ? Object.entries(value) : [];
  for (const [name, part] of parts) {
    path.push(name);
    if (name === PROTOTYPE_KEY) report(pointerOf(path), RESERVED_KEY);
    else if (typeof name === "string" && !isUnicodeText(name))
      report(pointerOf(path), `the key ${NOT_UNICODE}`);
    else search(part, path, walk);
    path.pop();
  }
}
