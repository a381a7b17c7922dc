// The second process in the tests of src/platform: `bun platform-child.ts <verb> <arguments>`. It prints one line for each step. A
// verb that holds something releases it when its standard input is closed.
import { Database } from "bun:sqlite";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { migrations as embedded, type Migration } from "../../../migrations/index.ts";
import { organizations } from "../../../src/domain/identity/tables.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { openSealing } from "../../../src/platform/crypto/sealing.ts";
import {
  isServerRunning,
  lockForServer,
  openDataDirectory,
} from "../../../src/platform/data-directory/data-directory.ts";
import { CheckpointThread } from "../../../src/platform/database/checkpoint-thread.ts";
import { type Db, openDatabase } from "../../../src/platform/database/database.ts";
import { migrate } from "../../../src/platform/database/schema/migrate.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { USER_VARIABLE } from "./child.ts";

const say = (line: string): void => void writeSync(1, `${line}\n`);
const told = (): Promise<unknown> => Bun.stdin.text();
const readyAndTold = (): Promise<unknown> => {
  say("ready");
  return told();
};

const insert = async (db: Db, name: string): Promise<string> => {
  const id = systemIds.uuid();
  await db.write((tx) => {
    tx.insert(organizations).values({ id, name, createdAtMs: 0 }).run();
  });
  return id;
};

const ONE_MORE: Migration = {
  id: embedded.length + 1,
  name: "one more",
  sql: "CREATE TABLE half (x INTEGER) STRICT; INSERT INTO half VALUES (1);",
};

const verbs: Record<string, (...args: string[]) => unknown> = {
  /** writes without end, and prints each id only after it was acknowledged */
  "write-forever": async (file = "") => {
    const db = openDatabase(file);
    const writer = async () => {
      for (;;) say(await insert(db, "acknowledged"));
    };
    await Promise.all(Array.from({ length: 8 }, writer));
  },
  /** as `write-forever`, with rows that soon fill the log; prints `checkpoint` whenever the thread is asked for one */
  "checkpoint-forever": async (file = "") => {
    const thread = new CheckpointThread();
    const db = openDatabase(file, {
      checkpointPages: 500,
      checkpoint: () => {
        say("checkpoint");
        return thread.checkpoint(file);
      },
    });
    for (;;) say(await insert(db, "x".repeat(100_000)));
  },
  "write-once": async (file = "") => {
    const db = openDatabase(file);
    say(await insert(db, "from another process"));
    await db.close();
  },
  /** writes a row and prints its id, then stays in the middle of a write in steps */
  "write-half": async (file = "") => {
    const db = openDatabase(file);
    say(await insert(db, "acknowledged"));
    await db.writeInSteps(function* (tx) {
      for (let row = 0; row < 5_000; row += 1)
        tx.insert(organizations)
          .values({ id: systemIds.uuid(), name: "x".repeat(4_000), createdAtMs: 0 })
          .run();
      say("half of it");
      for (;;) yield;
    });
  },
  "hold-write-lock": async (file = "") => {
    const connection = new Database(file);
    connection.run("BEGIN IMMEDIATE");
    say("held");
    await told();
    connection.run("ROLLBACK");
    say("free");
  },
  open: (file = "") => openDatabase(file),
  /** fills the disk of `directory`, then frees space again; prints how each write ended */
  "fill-disk": async (directory = "") => {
    const file = join(directory, "quartermaster.db");
    migrate(file, { clock: systemClock, version: "child", backupDirectory: join(directory, "backups") });
    const db = openDatabase(file);
    const ballast = join(directory, "ballast");
    say(`acknowledged ${await insert(db, "before")}`);
    fillWith(ballast);
    const outcomes = await Promise.allSettled([
      insert(db, "x".repeat(300_000)),
      insert(db, "y".repeat(300_000)),
    ]);
    for (const outcome of outcomes) say(outcome.status === "rejected" ? reasonOf(outcome.reason) : "done");
    rmSync(ballast);
    say(`acknowledged ${await insert(db, "after")}`);
    await db.close();
    const again = openDatabase(file);
    for (const { id } of again.read.select().from(organizations).all()) say(`kept ${id}`);
  },
  migrate: async (file = "", backupDirectory = "") => {
    await readyAndTold();
    const { from, to } = migrate(file, { clock: systemClock, version: "child", backupDirectory });
    await openDatabase(file).close();
    say(`${from} ${to}`);
  },
  /** applies one more migration than exist */
  upgrade: async (file = "", backupDirectory = "") => {
    await readyAndTold();
    const list = [...embedded, ONE_MORE];
    migrate(file, { clock: systemClock, version: "child", backupDirectory, migrations: list });
  },
  /** stops in the transaction of one more migration: the clock is read for the copy, then for the journal */
  "migrate-and-stop": (file = "", backupDirectory = "") => {
    let requests = 0;
    const clock = { nowMs: () => (requests++ === 0 ? 0 : stopHere()) };
    migrate(file, { clock, version: "child", backupDirectory, migrations: [...embedded, ONE_MORE] });
  },
  "open-directory": (path = "") => {
    const { path: opened } = openDataDirectory(path);
    say(`${process.getuid?.()} ${process.getgid?.()} ${process.getgroups?.().join(",")} ${opened}`);
  },
  serve: async (path = "") => {
    const lock = lockForServer(openDataDirectory(path), systemClock);
    say("serving");
    await told();
    lock.release();
    say("stopped");
  },
  "is-server-running": (path = "") => say(String(isServerRunning(openDataDirectory(path)))),
  seal: async (directory = "") => {
    await readyAndTold();
    say(openSealing({ directory, ids: systemIds }).seal("from a child", "test"));
  },
};

function fillWith(file: string): void {
  const chunk = Buffer.alloc(4096);
  const descriptor = openSync(file, "a");
  try {
    for (;;) writeSync(descriptor, chunk);
  } catch {
    closeSync(descriptor); // no space left, as intended
  }
}

const reasonOf = (error: unknown): string => (error instanceof DomainError ? error.reason : String(error));

function stopHere(): number {
  say("stopped");
  Bun.sleepSync(60_000); // the parent kills this process long before
  return 0;
}

function becomeUser(id: number): void {
  process.setgroups?.([]);
  process.setgid?.(id);
  process.setuid?.(id);
}

const [verb = "", ...args] = process.argv.slice(2);
const user = process.env[USER_VARIABLE];
if (user !== undefined) becomeUser(Number(user));
try {
  await verbs[verb]?.(...args);
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  say(`${error.reason}: ${error.message}`);
  process.exitCode = 1;
}
