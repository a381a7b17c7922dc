// How a second process checks its data, on a real database file.
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { type DatabaseInvalidation, DataWatch } from "../../../../src/app/service/divided/data-watch.ts";
import { placesIn } from "../../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../../src/platform/database/connection.ts";
import { programSchema } from "../../../../src/platform/database/schema/schema.ts";
import { createWorld, type World } from "../../../support/world.ts";

function watchOf({ directory, file, db }: World) {
  const schema = { from: programSchema(), to: programSchema(), backup: undefined };
  return new DataWatch({ directory: { ...placesIn(directory), database: file }, db, schema });
}
const PENDING = "pending" as const;
const foundBy = (watch: DataWatch): Promise<DatabaseInvalidation | typeof PENDING> =>
  Promise.race([watch.invalidated, Promise.resolve<typeof PENDING>(PENDING)]);

test("INF-62 a process keeps running while its database is the one it opened", async () => {
  await using world = await createWorld();
  using watch = watchOf(world);
  watch.check();
  expect(await foundBy(watch)).toBe(PENDING);
  expect(watch.checks).toBe(1);
});

test("INF-62 a process learns that another version has changed the schema", async () => {
  await using world = await createWorld();
  using watch = watchOf(world);
  {
    using other = openConnection(world.file, {});
    other.run("INSERT INTO schema_migrations VALUES (9999, 'later', '', 0, '9.0.0')");
  }
  await Bun.sleep(2); // commits of another process are visible after a millisecond
  watch.check();
  expect(await foundBy(watch)).toMatchObject({ isReplaced: false, error: { reason: "schema.changed" } });
});

test("INF-62 a process learns that its database file was moved", async () => {
  await using world = await createWorld();
  using watch = watchOf(world);
  renameSync(world.file, `${world.file}.moved`);
  watch.check();
  expect(await foundBy(watch)).toMatchObject({ isReplaced: true, error: { reason: "data_dir.replaced" } });
});
