// References to missing rows are found, up to a limit, and a lack of memory is not reported as damage.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  damagesIn,
  FAULTS_MAX,
  foreignKeyViolations,
} from "../../../../src/platform/database/maintenance/integrity.ts";
import { isOutOfMemory } from "../../../../src/platform/memory/memory-limits.ts";

test.each([0, 1, FAULTS_MAX - 1, FAULTS_MAX, FAULTS_MAX + 1])("names some of %d missing rows", (missing) => {
  using connection = new Database(":memory:");
  connection.run("CREATE TABLE parent (id INTEGER PRIMARY KEY)");
  connection.run("CREATE TABLE child (parent_id INTEGER REFERENCES parent)");
  for (let id = 1; id <= missing; id += 1) connection.run("INSERT INTO child VALUES (?)", [id]);
  const named = Math.min(missing, FAULTS_MAX);
  expect(foreignKeyViolations(connection)).toEqual(
    Array.from({ length: named }, () => "from child to parent"),
  );
});

test("pages that the check has no memory to read are not reported as damaged", () => {
  // printed with `ulimit -v 445000` for an intact database of 37 MB
  const found = (code: number) =>
    `*** in database main ***\nTree 5 page 379: unable to get the page. error code=${code}`;
  expect(damagesIn(["ok"])).toEqual([]);
  for (const code of [10, 11, 77]) expect(damagesIn([found(code)])).toEqual([found(code)]);
  for (const code of [7, 3082]) {
    let thrown: unknown;
    try {
      damagesIn([found(code)]);
    } catch (error) {
      thrown = error;
    }
    expect(isOutOfMemory(thrown)).toBe(true);
  }
});
