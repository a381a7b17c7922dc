// Reads free-form JSON objects within bounds, such as the settings of a package or harness. The service does not interpret them.

import { isJsonObject } from "../../platform/json/json-object.ts";
import { jsonTypeOf, type ObjectReader } from "../../platform/text/object-reader.ts";
import { reportUnusable } from "../../platform/text/unusable-values.ts";

/** maximum bytes of one object as JSON */
export const FREE_FORM_OBJECT_BYTES_MAX = 65_536;
export const FREE_FORM_OBJECT_DEPTH_MAX = 32;

/** @returns the member unchanged; an empty object if it is absent or wrong. Wrong values are reported. */
export const readFreeFormObject = (members: ObjectReader, name: string): Record<string, unknown> => {
  const value = members.value(name);
  if (value === undefined) return {};
  if (!isJsonObject(value)) {
    members.report(`must be an object, not ${jsonTypeOf(value)}`, name);
    return {};
  }
  const problemsBefore = members.problems.count;
  const place = members.at(name);
  reportUnusable(value, {
    depthMax: FREE_FORM_OBJECT_DEPTH_MAX,
    report: (pointer, detail) => members.problems.add(place + pointer, detail),
  });
  if (members.problems.count > problemsBefore) return {};
  const sizeBytes = Buffer.byteLength(JSON.stringify(value));
  if (sizeBytes > FREE_FORM_OBJECT_BYTES_MAX)
    members.report(`has ${sizeBytes} bytes as JSON; the limit is ${FREE_FORM_OBJECT_BYTES_MAX}`, name);
  return { ...value };
};
