// References to missing rows are found, up to a limit.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { FAULTS_MAX, foreignKeyViolations } from "../../../../src/platform/database/maintenance/integrity.ts";

test.each([0, 1, FAULTS_MAX - 1, FAULTS_MAX, FAULTS_MAX + 1])(
  "of %d missing rows some are named",
  (missing) => {
    using connection = new Database(":memory:");
    connection.run("CREATE TABLE parent (id INTEGER PRIMARY KEY)");
    connection.run("CREATE TABLE child (parent_id INTEGER REFERENCES parent)");
    for (let id = 1; id <= missing; id += 1) connection.run("INSERT INTO child VALUES (?)", [id]);
    const named = Math.min(missing, FAULTS_MAX);
    expect(foreignKeyViolations(connection)).toEqual(
      Array.from({ length: named }, () => "from child to parent"),
    );
  },
);
