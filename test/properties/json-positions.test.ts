// Scanning any JSON text finds the same positions as parsing it as YAML.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { pointerOf } from "../../src/platform/errors.ts";
import { jsonPositions } from "../../src/platform/json/positions.ts";
import { ProblemList } from "../../src/platform/text/problem-list.ts";
import { readYamlText } from "../../src/platform/text/yaml-text.ts";

const BOUNDS = { bytesMax: 1_000_000, tokensMax: 1_000_000 };
/** with a comment the text is YAML but not JSON */
const COMMENT = " # no JSON";

function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [
    ...(path.length === 0 ? [] : [path]),
    [...path, "absent"],
    ...members.flatMap(([name, member]) => pathsIn(member, [...path, name])),
  ];
}

test("positions in JSON are those of the same text read as YAML", () => {
  const documents = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
  const indents = fc.constantFrom(0, 1, "\t");
  const ends = fc.constantFrom("\n", "\n\n");
  fc.assert(
    fc.property(documents, indents, ends, (document, indent, end) => {
      const text = JSON.stringify(document, null, indent).replaceAll("\n", end);
      const paths = pathsIn(document);
      const problems = new ProblemList();
      const { positionsOf } = readYamlText(Buffer.from(text + COMMENT), problems, BOUNDS);
      fc.pre(problems.count === 0);
      expect(jsonPositions(text, paths)).toEqual(positionsOf(paths.map(pointerOf)));
    }),
  );
});
