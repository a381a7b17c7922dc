// How many problems of an input are kept, and how much of the input a message quotes.
import { expect, test } from "bun:test";
import {
  PROBLEMS_MAX,
  ProblemList,
  QUOTE_CHARACTERS_MAX,
  quoted,
} from "../../../src/platform/text/problem-list.ts";

test.each([
  [PROBLEMS_MAX - 1, []],
  [PROBLEMS_MAX, []],
  [PROBLEMS_MAX + 1, ["and 1 more"]],
  [PROBLEMS_MAX + 2, ["and 2 more"]],
])("keeps the first of %d problems and counts the rest", (count, rest) => {
  const problems = new ProblemList();
  for (let at = 0; at < count; at += 1) problems.add(`/${at}`, "wrong");
  const list = problems.list();
  expect(problems.count).toBe(count);
  expect(list.slice(0, PROBLEMS_MAX).every(({ pointer }, at) => pointer === `/${at}`)).toBe(true);
  expect(list.slice(PROBLEMS_MAX).map(({ detail }) => detail)).toEqual(rest);
});

test.each([
  [QUOTE_CHARACTERS_MAX - 1, ""],
  [QUOTE_CHARACTERS_MAX, ""],
  [QUOTE_CHARACTERS_MAX + 1, "…"],
])("quotes the first of %d characters", (length, more) => {
  expect(quoted("x".repeat(length))).toBe(`"${"x".repeat(Math.min(length, QUOTE_CHARACTERS_MAX))}${more}"`);
});
