// Reads the Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header); domain/idempotency interprets it.
import { KEY_CHARACTERS_MAX } from "../../domain/idempotency/service.ts";
import type { HeaderParameter } from "./header-parameters.ts";

const NAME = "Idempotency-Key";

/** @returns the key; undefined if the header is missing */
export const idempotencyKeyOf = (request: Request): string | undefined =>
  request.headers.get(NAME) ?? undefined;

/** OpenAPI description of the header. */
export const IDEMPOTENCY_KEY: HeaderParameter = {
  name: NAME,
  description:
    "The same key and the same request from the same caller get the same answer for 24 hours; another request under the key is 422",
  schema: { type: "string", minLength: 1, maxLength: KEY_CHARACTERS_MAX, pattern: "^[!-~]+$" },
  answers: { 422: { description: "The body is invalid, or the key was used for another request" } },
};
