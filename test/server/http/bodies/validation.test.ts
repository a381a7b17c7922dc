// Which problems of a request are reported, preferably those of the union member whose type is that of the value, and how their
// number is stated.
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { PROBLEMS_MAX } from "../../../../src/platform/text/problem-list.ts";
import {
  createAddressCheck,
  POINTER_CHARACTERS_MAX,
  PROBLEMS_COUNTED_MAX,
  READS_MAX,
  takeBodyCheck,
} from "../../../../src/server/http/bodies/validation.ts";
import { HttpError } from "../../../../src/server/http/problems/problem.ts";

const body = Type.Object({
  text: Type.Optional(Type.Union([Type.Null(), Type.String({ maxLength: 3 })])),
  list: Type.Optional(Type.Union([Type.Array(Type.Object({ a: Type.Integer() })), Type.Null()])),
  either: Type.Optional(Type.Union([Type.String({ maxLength: 1 }), Type.String({ minLength: 9 })])),
  choice: Type.Optional(Type.Union([Type.Literal("one"), Type.Literal("two")])),
  nested: Type.Optional(
    Type.Union([
      Type.Object({ text: Type.Union([Type.Boolean(), Type.String({ maxLength: 3 })]) }),
      Type.Null(),
    ]),
  ),
});

function refusalOf(check: () => void): HttpError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

const problemsOf = (value: unknown): string[] =>
  (refusalOf(() => takeBodyCheck({ body })(value))?.details.problems ?? []).map(
    ({ pointer, detail }) => `${pointer} ${detail}`,
  );

test.each<[object, string[]]>([
  [{ text: null, list: null, either: "a", nested: null }, []],
  [{ text: "abc", list: [{ a: 1 }], either: "long enough", nested: { text: true } }, []],
  [{ text: "long" }, ["/text expected string length less or equal to 3"]],
  [
    { list: [{ a: 1 }, { a: "x" }, {}] },
    ["/list/1/a expected integer, not string", "/list/2/a expected required property"],
  ],
  [{ nested: { text: "long" } }, ["/nested/text expected string length less or equal to 3"]],
  [{ text: 1 }, ["/text expected null or string, not number"]],
  [{ nested: { text: null } }, ["/nested/text expected boolean or string, not null"]],
  [{ list: {} }, ["/list expected array or null, not object"]],
  [{ either: "neither" }, ["/either expected union value"]],
  [{ choice: "three" }, ["/choice must be one of one, two"]],
  [{ choice: 1 }, ["/choice expected string, not number"]],
])("reports the problems of %j", (value, problems) => {
  expect(problemsOf(value)).toEqual(problems);
});

const integers = Type.Array(Type.Integer());

test.each([
  [1, "the body has one problem: /0: expected integer, not string"],
  [2, "the body has 2 problems: /0: expected integer, not string; /1: expected integer, not string"],
  [PROBLEMS_MAX, `the body has ${PROBLEMS_MAX} problems: /0: expected integer, not string; `],
  [PROBLEMS_MAX + 1, `the body has ${PROBLEMS_MAX + 1} problems: /0: expected integer, not string; `],
  [PROBLEMS_COUNTED_MAX, `the body has ${PROBLEMS_COUNTED_MAX} problems: /0: expected integer, not string; `],
  [
    PROBLEMS_COUNTED_MAX + 1,
    `the body has at least ${PROBLEMS_COUNTED_MAX} problems: /0: expected integer, not string; `,
  ],
])("the message about %i problems counts them", (count, message) => {
  const refusal = refusalOf(() => takeBodyCheck({ body: integers })(Array(count).fill("x")));
  expect(refusal?.status).toBe(422);
  expect(refusal?.message.slice(0, message.length)).toBe(message);
  const left = count - PROBLEMS_MAX;
  expect(refusal?.details.problems).toHaveLength(left > 0 ? PROBLEMS_MAX + 1 : count);
  const isCut = count > PROBLEMS_COUNTED_MAX;
  const rest = `and ${isCut ? `at least ${left - 1}` : left} more`;
  if (left > 0) expect(refusal?.details.problems?.at(-1)).toEqual({ pointer: "", detail: rest });
});

test.each([-1, 0, 1])("pointers of %i characters more than the limit may hide more problems", (step) => {
  const names = ["a".repeat(POINTER_CHARACTERS_MAX / 2), "b".repeat(POINTER_CHARACTERS_MAX / 2 + step - 2)];
  const wrong = Object.fromEntries(names.map((name) => [name, "x"]));
  const check = takeBodyCheck({ body: Type.Record(Type.String(), Type.Integer()) });
  const message = refusalOf(() => check(wrong))?.message;
  expect(message).toStartWith(step > 0 ? "the body has at least 2 problems: " : "the body has 2 problems: ");
  if (step > 0) expect(message).toEndWith("; and possibly more: the check stopped early");
});

/** A list of integers needs one read of its length before each element and at its end, and one of each element. */
const faultyList = (length: number) => Array(length).fill(1).with(-1, "x");

test("a check that reads more members than the limit stops early", () => {
  const length = READS_MAX / 2;
  const refusals = [
    () => takeBodyCheck({ body: integers })(faultyList(length - 1)), // one below
    () => takeBodyCheck({ body: Type.Object({ list: integers }) })({ list: faultyList(length - 1) }), // at the limit
    () => takeBodyCheck({ body: integers })(faultyList(length)), // one above
  ].map(refusalOf);
  const early = refusals.map((refusal) => refusal?.message.includes("the check stopped early"));
  expect(early).toEqual([false, false, true]);
});

test("a query parameter that is given twice is one problem of the query", () => {
  const check = createAddressCheck({ query: Type.Object({ page: Type.Optional(Type.String()) }) });
  const parts = (query: string) => ({
    request: new Request(`http://localhost/users?${query}`),
    params: {},
    query: Object.fromEntries(new URLSearchParams(query)),
  });
  const refusal = refusalOf(() => check(parts("page=1&page=2")));
  expect(refusal?.status).toBe(400);
  expect(refusal?.message).toBe("the query has one problem: /page: must be given only once");
  expect(refusalOf(() => check(parts("page=1")))).toBeUndefined();
});

test("the framework leaves the body to this check", async () => {
  const route = { body };
  const check = takeBodyCheck(route);
  const app = new Elysia().post("/", ({ body: value }) => refusalOf(() => check(value))?.message, route);
  const request = new Request("http://localhost/", {
    method: "POST",
    body: JSON.stringify({ text: 1 }),
    headers: { "content-type": "application/json" },
  });
  const response = await app.handle(request);
  expect(await response.text()).toBe("the body has one problem: /text: expected null or string, not number");
});
