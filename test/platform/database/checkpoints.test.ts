// Checkpoints in another thread: when the thread is called, when commits wait for it, and the state after it was killed.
import { expect, test } from "bun:test";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { organizations } from "../../../src/domain/identity/tables.ts";
import { CheckpointThread } from "../../../src/platform/database/checkpoint-thread.ts";
import type { LogState } from "../../../src/platform/database/checkpoints.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { type Db, openDatabase } from "../../../src/platform/database/database.ts";
import { startChild } from "../../support/cli/child.ts";
import { createWorld } from "../../support/world.ts";

const PAGE_BYTES = 4_096;
/** more than commits may wait for */
const GROWTH_PAGES = 1_000;
const GROWTH_BYTES = GROWTH_PAGES * PAGE_BYTES;

/** Writes a row that fills the log. */
const fill = (db: Db): Promise<void> =>
  db.write((tx) => void tx.run(sql`UPDATE organizations SET name = hex(randomblob(${GROWTH_BYTES / 2}))`));

const touch = (db: Db): Promise<void> =>
  db.write((tx) => void tx.run(sql`UPDATE organizations SET created_at_ms = created_at_ms + 1`));

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
};

const logPages = (file: string): number => {
  using connection = openConnection(file, { withoutCheckpoints: true });
  return connection.query<LogState, []>("PRAGMA wal_checkpoint(NOOP)").get()?.log ?? 0;
};

/** A database whose thread is controlled by the test. */
async function withThread(options: { replicated?: true } = {}) {
  const world = await createWorld();
  const requests: PromiseWithResolvers<LogState>[] = [];
  const checkpoint = () => {
    const request = Promise.withResolvers<LogState>();
    requests.push(request);
    return request.promise;
  };
  const db = openDatabase(world.file, { ...options, checkpoint, checkpointPages: GROWTH_PAGES });
  const dispose = async () => {
    await db.close();
    await world.dispose();
  };
  return { requests, db, file: world.file, [Symbol.asyncDispose]: dispose };
}

test("commits leave a full log to the thread, which gets one request at a time", async () => {
  await using world = await withThread();
  const { requests, db, file } = world;
  const before = statSync(file).size;
  await touch(db);
  expect(requests).toHaveLength(0);
  for (let nth = 0; nth < 2; nth++) await fill(db);
  expect([requests.length, statSync(file).size]).toEqual([1, before]);
  requests[0]?.resolve({ log: 1, checkpointed: 0 });
});

test("a reader that needs older pages makes the thread wait until the log has grown again", async () => {
  await using world = await withThread();
  const { requests, db } = world;
  await fill(db);
  requests[0]?.resolve({ log: GROWTH_PAGES, checkpointed: 10 });
  await turns();
  await touch(db);
  expect(requests).toHaveLength(1);
  await fill(db);
  expect(requests).toHaveLength(2);
  requests[1]?.resolve({ log: 1, checkpointed: 0 });
});

test("commits wait while the thread copies the last pages, and reads do not", async () => {
  await using world = await withThread();
  const { requests, db } = world;
  await fill(db);
  for (const [request, log] of [GROWTH_PAGES, GROWTH_PAGES + 20].entries()) {
    await touch(db);
    requests[request]?.resolve({ log, checkpointed: log });
    await turns();
  }
  expect(requests).toHaveLength(3);
  let isDone = false;
  const written = touch(db).then(() => {
    isDone = true;
  });
  await turns();
  expect([isDone, db.read.select().from(organizations).all().length]).toEqual([false, 1]);
  requests[2]?.resolve({ log: GROWTH_PAGES + 20, checkpointed: GROWTH_PAGES + 20 });
  await written;
});

test("the log is reset although commits never pause by themselves", async () => {
  await using world = await createWorld();
  /** Copies what was there when it started, like a thread whose disk is slower than the commits. */
  const checkpoint = async (): Promise<LogState> => {
    using reader = openConnection(world.file, { readonly: true });
    reader.run("BEGIN");
    reader.query("SELECT 1 FROM sqlite_schema").get();
    await turns();
    using connection = openConnection(world.file, { withoutCheckpoints: true });
    const state = connection.query<LogState, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
    reader.run("COMMIT");
    const checkpointed = state?.checkpointed ?? 0;
    return { log: checkpointed, checkpointed };
  };
  const db = openDatabase(world.file, { checkpoint, checkpointPages: GROWTH_PAGES });
  await fill(db);
  while (logPages(world.file) >= GROWTH_PAGES) await touch(db);
  await db.close();
});

test("copies the log in the writer if the thread is missing", async () => {
  await using world = await withThread();
  const { requests, db, file } = world;
  await fill(db);
  requests[0]?.reject(new Error("no thread"));
  await turns();
  expect(statSync(file).size).toBeGreaterThan(GROWTH_BYTES);
  await touch(db);
  expect(logPages(file)).toBeLessThan(GROWTH_PAGES);
});

test("a database is closed after the checkpoint that is under way", async () => {
  await using world = await withThread();
  const { requests, db } = world;
  await fill(db);
  let isClosed = false;
  const closing = db.close().then(() => {
    isClosed = true;
  });
  await turns();
  expect(isClosed).toBe(false);
  requests[0]?.resolve({ log: 1, checkpointed: 0 });
  await closing;
});

test("DAT-8 the log is left to other software that runs the checkpoints", async () => {
  await using world = await withThread({ replicated: true });
  const before = statSync(world.file).size;
  await fill(world.db);
  await touch(world.db);
  expect([world.requests.length, statSync(world.file).size]).toEqual([0, before]);
});

test("the thread copies the log, keeps no file open, and is started again after it has died", async () => {
  await using world = await createWorld();
  using thread = new CheckpointThread();
  const openFiles = () => {
    const files = readdirSync("/proc/self/fd").map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return ""; // the descriptor that listed the folder
      }
    });
    return files.filter((file) => file.startsWith(world.directory)).length;
  };
  await fill(world.db);
  const before = openFiles();
  for (let nth = 0; nth < 3; nth++) {
    const { log, checkpointed } = await thread.checkpoint(world.file);
    expect(checkpointed).toBe(log);
    thread[Symbol.dispose]();
  }
  expect(openFiles() - before).toBeLessThan(2); // while a file has locks, SQLite keeps one descriptor of it for reuse
  expect(statSync(world.file).size).toBeGreaterThan(GROWTH_BYTES);
  const missing = thread.checkpoint(`${world.file}-missing`);
  await expect(missing).rejects.toMatchObject({ reason: expect.stringContaining("storage.") });
  expect((await thread.checkpoint(world.file)).checkpointed).toBeGreaterThan(0);
});

test("acknowledged writes survive the death of the process during a checkpoint", async () => {
  await using world = await createWorld();
  for (const killedAt of [1, 2, 3, 5, 8]) {
    const child = startChild("checkpoint-forever", [world.file]);
    const acknowledged: string[] = [];
    for (let checkpoints = 0; checkpoints < killedAt; ) {
      const line = (await child.line()) ?? "ended early";
      if (line === "checkpoint") checkpoints += 1;
      else acknowledged.push(line);
    }
    child.kill();
    acknowledged.push(...(await child.ended()).lines.filter((line) => line !== "checkpoint"));
    const reopened = openDatabase(world.file);
    const kept = new Set(
      reopened.read
        .select({ id: organizations.id })
        .from(organizations)
        .all()
        .map(({ id }) => id),
    );
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(reopened.read.get<[string]>(sql`PRAGMA integrity_check`)).toEqual(["ok"]);
    await reopened.write((tx) => void tx.run(sql`DELETE FROM organizations WHERE length(name) > 1000`));
    await reopened.close();
  }
});
