// Merges a text index until it contains nothing of removed rows.
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { optimizeIndex } from "../../../../src/domain/shared/text-search/trigram-store.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { createWorld } from "../../../support/world.ts";

const WRITES = 6;
const TEXTS = 400;

test("SES-37 an optimized index is merged into one segment without removed texts", async () => {
  await using world = await createWorld();
  const { db } = world;
  for (let write = 0; write < WRITES; write += 1) {
    await db.write((tx) => {
      for (let text = 0; text < TEXTS; text += 1) {
        const number = write * TEXTS + text + 1;
        tx.run(
          sql`INSERT INTO session_search (rowid, text) VALUES (${number}, ${sha256Hex(String(number))})`,
        );
      }
    }, "unobserved");
  }
  await db.write((tx) => tx.run(sql`DELETE FROM session_search WHERE rowid % 20 = 0`), "unobserved");
  const segments = () =>
    db.read.values<[number]>(
      sql`SELECT count(DISTINCT id >> 37) FROM session_search_data WHERE id > 10`,
    )[0]?.[0];
  expect(segments()).toBeGreaterThan(1);
  await optimizeIndex(db, "session_search", new AbortController().signal);
  expect(segments()).toBe(1);
});
