// Reads a SCIM message: media type, size and structure (depth, number of values, duplicate members). Names are
// case-insensitive, so `active` and `Active` in one object are duplicates. src/domain/scim interprets the members.

import { setImmediate } from "node:timers/promises";
import { BULK_PAYLOAD_BYTES_MAX } from "../../domain/scim/bulk/model.ts";
import { scimInvalid } from "../../domain/scim/errors.ts";
import { isJsonObject } from "../../platform/json/json-object.ts";
import type { JsonLimits } from "../../platform/json/structure.ts";
import { collectNewGarbage, LARGE_CHARACTERS } from "../../platform/memory/garbage.ts";
import {
  contentTypeOf,
  JSON_VALUES_MAX,
  type JsonProblem,
  parseWithin,
  readText,
  refuseEncoding,
} from "../http/bodies/body-text.ts";
import { HttpError } from "../http/problems/problem.ts";
import { JSON_MEDIA_TYPE, SCIM_MEDIA_TYPE } from "./responses.ts";

/** `scim`: users, searches and bulk requests. `scim-group`: groups, which may have very many members. */
export type ScimBody = "scim" | "scim-group";

/** Size limits of a body in bytes. */
export const SCIM_BYTES_MAX: Readonly<Record<ScimBody, number>> = {
  scim: BULK_PAYLOAD_BYTES_MAX,
  "scim-group": 16 * 1024 * 1024,
};

/** Nesting depth limit. */
export const SCIM_DEPTH_MAX = 32;
/** Limits on values and member names in a body. A group may have REQUEST_MEMBERS_MAX members with four attributes each. */
export const SCIM_VALUES_MAX: Readonly<Record<ScimBody, number>> = {
  scim: JSON_VALUES_MAX,
  "scim-group": 1_000_000,
};

/** A body without Content-Type is read as a SCIM message. */
const MEDIA_TYPES = new Set([SCIM_MEDIA_TYPE, JSON_MEDIA_TYPE, ""]);

/**
 * @returns one JSON object
 * @throws HttpError 413, 415; ScimError 400 `invalidSyntax`
 */
export async function readScimBody(request: Request, accepted: ScimBody): Promise<object> {
  refuseOtherMessages(request);
  const text = await readText(request, SCIM_BYTES_MAX[accepted]);
  const { message, isLarge } = await parseObject(text, limitsOf(SCIM_VALUES_MAX[accepted]));
  if (isLarge) {
    collectNewGarbage(); // lets the engine free the text and its bytes
    await setImmediate();
  }
  return message;
}

/** @throws HttpError 415 */
export function refuseOtherMessages(request: Request): void {
  const { mediaType, isUtf8 } = contentTypeOf(request);
  if (!MEDIA_TYPES.has(mediaType) || !isUtf8) {
    throw new HttpError(415, "request.media_type", `send the body as ${SCIM_MEDIA_TYPE} in UTF-8`, {
      headers: { accept: `${SCIM_MEDIA_TYPE}, ${JSON_MEDIA_TYPE}` },
    });
  }
  refuseEncoding(request);
}

/** @returns the message, and whether its text is long @throws ScimError 400 `invalidSyntax` */
export async function parseObject(
  text: string,
  limits: JsonLimits,
): Promise<{ message: object; isLarge: boolean }> {
  const message = await parseWithin(text, limits, malformed);
  if (!isJsonObject(message)) {
    throw scimInvalid("invalidSyntax", "the body must be one JSON object");
  }
  return { message, isLarge: text.length >= LARGE_CHARACTERS };
}

/** @param valuesMax limit on values and member names */
export const limitsOf = (valuesMax: number): JsonLimits => ({
  depthMax: SCIM_DEPTH_MAX,
  valuesMax,
  foldsCase: true,
});

export const malformed = ({ message }: JsonProblem): Error => scimInvalid("invalidSyntax", message);
