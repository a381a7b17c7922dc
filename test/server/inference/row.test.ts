// The cost that the gateway states for a request.
import { expect, test } from "bun:test";
import { COST_MAX, costIn } from "../../../src/server/inference/forwarding/row.ts";

const costOf = (text: string) => costIn(new Headers({ "x-litellm-response-cost": text }));

test.each([
  ["0", 0],
  ["0.0125", 0.0125],
  [String(COST_MAX - 1), COST_MAX - 1],
  [String(COST_MAX), COST_MAX],
  [String(COST_MAX + 1), null],
  ["-1", null],
  ["free", null],
  ["", null],
])("a cost of %p is %p", (text, cost) => {
  expect(costOf(text)).toBe(cost);
});
