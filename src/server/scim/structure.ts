// Checks the structure of a SCIM message: depth, number of values, and duplicate members. Names are case-insensitive, so
// `active` and `Active` in one object are duplicates.

import { scimInvalid } from "../../domain/scim/errors.ts";
import type { JsonLimits } from "../../platform/text/json-structure.ts";
import { JSON_VALUES_MAX, type JsonProblem, parseWithin } from "../http/bodies/json-text.ts";

/** Nesting depth limit. */
export const SCIM_DEPTH_MAX = 32;
/** Enough for PATCH_MEMBERS_MAX members with four attributes each. */
export const SCIM_GROUP_VALUES_MAX = 1_000_000;

const limitsOf = (valuesMax: number): JsonLimits => ({
  depthMax: SCIM_DEPTH_MAX,
  valuesMax,
  foldsCase: true,
});

const malformed = ({ message }: JsonProblem): Error => scimInvalid("invalidSyntax", message);

/**
 * Checks and parses a message; a long one takes several turns of the event loop.
 * @param valuesMax limit on values and member names
 * @throws ScimError 400 `invalidSyntax`
 */
export const parseMessage = (json: string, valuesMax = JSON_VALUES_MAX): Promise<unknown> =>
  parseWithin(json, limitsOf(valuesMax), malformed);
