// Decides from the body of a 401 whether a LiteLLM-compatible gateway refuses the user's key itself or something else in the
// request.
import type { RejectionReason } from "../../keys/keys.ts";
import { parseJson, sentenceOf } from "./litellm-responses.ts";

const UNKNOWN_KEY = "token_not_found_in_db";
const BLOCKED = /key is blocked/i;

/** @returns undefined if the response is not about the key */
export function rejectionReasonIn(body: string): RejectionReason | undefined {
  const response = parseJson(body);
  const isUnknown = [errorIn(response), errorIn(memberOf(response, "detail"))].some(
    (error) => memberOf(error, "type") === UNKNOWN_KEY,
  );
  if (isUnknown) return "not_found";
  return BLOCKED.test(sentenceOf(response) ?? "") ? "blocked" : undefined;
}

const errorIn = (value: unknown): unknown => memberOf(value, "error");

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const members: Readonly<Record<string, unknown>> = { ...value };
  return members[name];
}
