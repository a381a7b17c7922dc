// The message in a refusal of the gateway.
import { expect, test } from "bun:test";
import {
  NESTING_MAX,
  sentenceOf,
} from "../../../../../src/domain/gateway/provisioners/litellm/litellm-responses.ts";

test.each([-1, 0, 1])("a message in %i more objects than the limit is found up to the limit", (step) => {
  let body: unknown = "no such user";
  for (let depth = 0; depth < NESTING_MAX + step; depth += 1) body = { error: body };
  expect(sentenceOf(body)).toBe(step > 0 ? undefined : "no such user");
});
