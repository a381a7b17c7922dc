// The structure of a SCIM message: its depth, its size in values, and members that are there twice. Letter case does not count
// in names, so `active` and `Active` in one object contradict each other (scim.md SCIM-37, SCIM-39).

import { scimInvalid } from "../../domain/scim/errors.ts";
import type { JsonLimits } from "../../platform/text/json-structure.ts";
import {
  JSON_VALUES_MAX,
  type JsonProblem,
  parseWithin,
  structureProblem,
} from "../http/bodies/json-text.ts";

/** Objects and lists inside each other at most. */
export const SCIM_DEPTH_MAX = 32;
/** A group has room for PATCH_MEMBERS_MAX members that each have four members of their own. */
export const SCIM_GROUP_VALUES_MAX = 1_000_000;

const limitsOf = (valuesMax: number): JsonLimits => ({
  depthMax: SCIM_DEPTH_MAX,
  valuesMax,
  foldsCase: true,
});

const malformed = ({ message }: JsonProblem): Error => scimInvalid("invalidSyntax", message);

/**
 * @param valuesMax values and names of members at most
 * @throws ScimError 400 `invalidSyntax`
 */
export function assertStructure(json: string, valuesMax = JSON_VALUES_MAX): void {
  const fault = structureProblem(json, limitsOf(valuesMax));
  if (fault) throw malformed(fault);
}

/** The same, and parses it; a long one over several turns of the event loop. @throws ScimError 400 `invalidSyntax` */
export const parseMessage = (json: string, valuesMax = JSON_VALUES_MAX): Promise<unknown> =>
  parseWithin(json, limitsOf(valuesMax), malformed);
