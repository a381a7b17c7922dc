// Which problems of a body are reported: those of the member of a union that has the type of the value.
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { takeBodyCheck } from "../../../../src/server/http/bodies/validation.ts";
import { HttpError } from "../../../../src/server/http/problems/problem.ts";

const body = Type.Object({
  text: Type.Optional(Type.Union([Type.Null(), Type.String({ maxLength: 3 })])),
  list: Type.Optional(Type.Union([Type.Array(Type.Object({ a: Type.Integer() })), Type.Null()])),
  either: Type.Optional(Type.Union([Type.String({ maxLength: 1 }), Type.String({ minLength: 9 })])),
  nested: Type.Optional(
    Type.Union([
      Type.Object({ text: Type.Union([Type.Boolean(), Type.String({ maxLength: 3 })]) }),
      Type.Null(),
    ]),
  ),
});

function problemsOf(value: unknown): string[] {
  try {
    takeBodyCheck({ body })(value);
    return [];
  } catch (error) {
    if (error instanceof HttpError)
      return (error.details.problems ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`);
    throw error;
  }
}

test.each<[object, string[]]>([
  [{ text: null, list: null, either: "a", nested: null }, []],
  [{ text: "abc", list: [{ a: 1 }], either: "long enough", nested: { text: true } }, []],
  [{ text: "long" }, ["/text expected string length less or equal to 3"]],
  [
    { list: [{ a: 1 }, { a: "x" }, {}] },
    ["/list/1/a expected integer", "/list/2/a expected required property"],
  ],
  [{ nested: { text: "long" } }, ["/nested/text expected string length less or equal to 3"]],
  [{ text: 1 }, ["/text expected null or string"]],
  [{ nested: { text: null } }, ["/nested/text expected boolean or string"]],
  [{ list: {} }, ["/list expected array or null"]],
  [{ either: "neither" }, ["/either expected union value"]],
])("of %j", (value, problems) => {
  expect(problemsOf(value)).toEqual(problems);
});
