// Problems that make the database of a backup unusable; the first one is reported.
import { expect, test } from "bun:test";
import { assertUsableDatabase } from "../../../src/domain/backup/fitness.ts";
import type { Inspected } from "../../../src/platform/database/maintenance/copy.ts";

const SOUND: Inspected = {
  sizeBytes: 4_096,
  problems: [],
  schema: 3,
  rows: {},
  organizationId: "org",
  differences: [],
};

test("an undamaged database of this program is usable", () => {
  expect(() => assertUsableDatabase("a.db", SOUND)).not.toThrow();
});

test.each<[Partial<Inspected>, string, string]>([
  [{ problems: ["page 2", "page 3"] }, "backup.damaged", "fails the integrity check: page 2"],
  [{ schema: 0 }, "backup.unreadable", "its database has no migration history of Quartermaster"],
  [{ organizationId: undefined }, "backup.unreadable", "its database has no organization"],
  [{ differences: ["the view a", "the view b"] }, "backup.foreign_objects", "create: the view a"],
])("a database with %j is refused", (changes, reason, end) => {
  expect(() => assertUsableDatabase("a.db", { ...SOUND, ...changes })).toThrow(
    expect.objectContaining({ reason, message: expect.stringMatching(new RegExp(`^.*a\\.db.*${end}$`)) }),
  );
});
