// Problems of text that is not YAML, in the service's words and with their place.
import { expect, test } from "bun:test";
import { ProblemList } from "../../../src/platform/text/problem-list.ts";
import { readYamlText } from "../../../src/platform/text/yaml-text.ts";

test.each([
  ['a: "x\nb: 1\n', "this quote is never closed", 1, 4],
  ["a: 1\nb: 'x\n", "this quote is never closed", 2, 4],
  ["a: b: c\n", "a value has a colon and a blank in it; write it in quotes", 1, 4],
  ["a: @x\n", "a value begins with a character that has a meaning in YAML; write it in quotes", 1, 4],
  ["a: [1, 2\nb: 3\n", "a bracket is not closed, or its content is not indented", 2, 1],
  ["a: {b: 1\n", "a bracket is not closed, or its content is not indented", 2, 1],
  ['{"a": [1, 2]', "a bracket is not closed, or its content is not indented", 1, 13],
  ["a: [1 2: 3 4]]\n", "this is not expected here; check quotes, brackets and indentation before it", 1, 14],
  ['a: "\\q"\n', "a backslash starts an unknown escape; write two of them, or use single quotes", 1, 5],
  ["- a\nb: 1\n", "this is not expected here; check quotes, brackets and indentation before it", 2, 1],
  ["a: |x\n  y\n", "text follows | or > on the same line", 1, 5],
  ["a:\n  - b\n - c\n", "this is not expected here; check quotes, brackets and indentation before it", 3, 1],
  ["a\nb: 1\n", "a key has no colon after it", 1, 1],
  ['a: ["x""y"]\n', "a comma or a colon is missing between two items", 1, 8],
  ["a: &x &y 1\n", "an anchor or an alias is not allowed here", 1, 7],
  ["a: {<<: 1}\n", "<< merges only mappings", undefined, undefined],
])("%j", (text, words, line, column) => {
  const problems = new ProblemList();
  readYamlText(Buffer.from(text), problems, { bytesMax: 1_000, tokensMax: 1_000 });
  expect(problems.list()[0]).toEqual({
    pointer: "",
    detail: `cannot be read as YAML: ${words}`,
    ...(line !== undefined && column !== undefined && { line, column }),
  });
});
