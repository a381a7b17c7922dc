// The database: group commit, durability, revisions, and its errors when the machine fails.
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eq, sql } from "drizzle-orm";
import { organizations } from "../../../src/domain/identity/tables.ts";
import { markTopicChanged } from "../../../src/platform/database/changed-topics.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import {
  BACKGROUND_BATCH_MS,
  type Db,
  FOREIGN_COMMIT_CHECK_MS,
  openDatabase,
  type Tx,
} from "../../../src/platform/database/database.ts";
import { uniqueViolation } from "../../../src/platform/database/storage-errors.ts";
import { WRITE_BATCH_MAX } from "../../../src/platform/database/write-queue.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Steps } from "../../../src/platform/steps.ts";
import { isRoot, NOBODY, startChild } from "../../support/cli/child.ts";
import { createWorld, temporaryDirectory } from "../../support/world.ts";

const add = (tx: Tx, id: string): void =>
  void tx.insert(organizations).values({ id, name: id, createdAtMs: 0 }).run();

const idsIn = (db: Pick<Db, "read">): string[] =>
  db.read
    .select({ id: organizations.id })
    .from(organizations)
    .where(eq(organizations.createdAtMs, 0))
    .orderBy(organizations.id)
    .all()
    .map(({ id }) => id);

const reasonOf = (failed: Promise<unknown>): Promise<unknown> =>
  failed.then(
    () => "no error",
    (error: unknown) => (error instanceof DomainError ? error.reason : error),
  );

test("a write returns the result of its function, and readers see the row", async () => {
  await using world = await createWorld();
  const response = await world.db.write((tx) => {
    add(tx, "a");
    return 42;
  });
  expect(response).toBe(42);
  expect(idsIn(world.db)).toEqual(["a"]);
});

test("a failing write leaves no row, and the other writes in its commit are kept", async () => {
  await using world = await createWorld();
  const failure = new Error("refused by a rule");
  const outcomes = await Promise.allSettled([
    world.db.write((tx) => add(tx, "a")),
    world.db.write((tx) => {
      add(tx, "b");
      throw failure;
    }),
    world.db.write((tx) => add(tx, "c")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(outcomes[1]).toEqual({ status: "rejected", reason: failure });
  expect(idsIn(world.db)).toEqual(["a", "c"]);
});

test("a lone failing write leaves no row, and the next one works", async () => {
  await using world = await createWorld();
  const failing = world.db.write((tx) => {
    add(tx, "a");
    throw new Error("refused by a rule");
  });
  await expect(failing).rejects.toThrow("refused by a rule");
  await world.db.write((tx) => add(tx, "b"));
  expect(idsIn(world.db)).toEqual(["b"]);
});

test("a unique violation names its column and undoes only the rest of that write", async () => {
  await using world = await createWorld();
  const [kept, violated] = await Promise.allSettled([
    world.db.write((tx) => add(tx, "a")),
    world.db.write((tx) => {
      add(tx, "b");
      tx.run(sql`CREATE UNIQUE INDEX one_name ON organizations (name)`);
      tx.insert(organizations).values({ id: "c", name: "b", createdAtMs: 0 }).run();
    }),
  ]);
  expect(kept.status).toBe("fulfilled");
  expect(violated.status === "rejected" && uniqueViolation(violated.reason)).toBe("organizations.name");
  expect(idsIn(world.db)).toEqual(["a"]);
  expect(uniqueViolation(new Error("another error"))).toBeUndefined();
});

test("foreign keys hold", async () => {
  await using world = await createWorld();
  const orphan = world.db.write((tx) => {
    tx.run(sql`INSERT INTO branding (organization_id) VALUES ('nobody')`);
  });
  await expect(orphan).rejects.toMatchObject({ cause: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } });
});

test("the read connection cannot write", async () => {
  await using world = await createWorld();
  expect(() => world.db.read.delete(organizations).run()).toThrow("readonly");
});

test("recognizes SQLite's errors from drizzle statements and from raw SQL", async () => {
  await using world = await createWorld();
  const written = world.db.write((tx) => {
    tx.run(sql`CREATE UNIQUE INDEX one_name ON organizations (name)`);
    add(tx, "a");
    tx.run(sql`INSERT INTO organizations VALUES ('b', 'a', 0)`);
  });
  expect(uniqueViolation(await written.catch((error: unknown) => error))).toBe("organizations.name");
  const damaged = world.db.write((tx) => {
    tx.run(sql`PRAGMA query_only = 1`);
    tx.run(sql`DELETE FROM organizations`);
  });
  expect(await reasonOf(damaged)).toBe("storage.not_permitted");
});

test("a write that returns a promise does not compile, is refused at run time, and leaves no row", async () => {
  await using world = await createWorld();
  // @ts-expect-error a promise instead of a plain value
  const asynchronous = world.db.write(async (tx) => add(tx, "a"));
  await expect(asynchronous).rejects.toThrow("must not return a promise");
  expect(idsIn(world.db)).toEqual([]);
});

test("a write that returns a statement it did not run is refused", async () => {
  await using world = await createWorld();
  const values = { id: "a", name: "a", createdAtMs: 0 };
  // @ts-expect-error drizzle's statements can be awaited, which would run them outside the transaction
  const forgotten = world.db.write((tx) => tx.insert(organizations).values(values));
  await expect(forgotten).rejects.toThrow("a statement that was not run");
  expect(idsIn(world.db)).toEqual([]);
});

test.each([WRITE_BATCH_MAX - 1, WRITE_BATCH_MAX, WRITE_BATCH_MAX + 1])(
  "%d concurrent writes are all kept",
  async (count) => {
    await using world = await createWorld();
    const names = Array.from({ length: count }, (_, index) => String(index).padStart(3, "0"));
    await Promise.all(names.map((name) => world.db.write((tx) => add(tx, name))));
    expect(idsIn(world.db)).toEqual(names);
  },
);

test("a write requested inside a write is a separate write", async () => {
  await using world = await createWorld();
  let inner: Promise<void> | undefined;
  const outer = world.db.write((tx) => {
    inner = world.db.write((later) => add(later, "inner"));
    add(tx, "outer");
    throw new Error("the outer one fails");
  });
  await expect(outer).rejects.toThrow("the outer one fails");
  await inner;
  expect(idsIn(world.db)).toEqual(["inner"]);
});

/** Adds a row in each step, and calls `between` in the turns between two of them. */
const adding = (ids: readonly string[], between: (added: string) => void = () => {}) =>
  function* (tx: Tx): Steps<number> {
    for (const id of ids) {
      add(tx, id);
      setImmediate(() => between(id));
      yield;
    }
    return ids.length;
  };

test("during a write in steps the event loop turns and readers see the former rows", async () => {
  await using world = await createWorld();
  const seen: string[][] = [];
  const revisions = new Set([world.db.revision("jobs")]);
  const steps = adding(["a", "b", "c"], () => {
    seen.push(idsIn(world.db));
    revisions.add(world.db.revision("jobs"));
  });
  expect(await world.db.writeInSteps(steps, "jobs")).toBe(3);
  expect(seen).toEqual([[], [], []]);
  expect(idsIn(world.db)).toEqual(["a", "b", "c"]);
  expect(revisions.size).toBe(1);
  expect(revisions).not.toContain(world.db.revision("jobs"));
});

test("writes keep their order around one in steps, and none joins its transaction", async () => {
  await using world = await createWorld();
  const done: string[] = [];
  const rows = (tx: Tx) => tx.select().from(organizations).all().length - 1;
  const write = (id: string) =>
    world.db.write((tx) => {
      add(tx, id);
      done.push(`${id} is row ${rows(tx)}`);
    });
  const meanwhile: Promise<void>[] = [];
  const failing = world.db.writeInSteps(function* (tx: Tx): Steps<never> {
    add(tx, "gone");
    yield;
    meanwhile.push(write("d"));
    yield;
    done.push(`the first fails after ${rows(tx) - 1}`);
    throw new Error("refused by a rule");
  });
  const before = [write("a"), write("b")];
  const second = world.db.writeInSteps(adding(["s", "t"])).then((count) => done.push(`${count} in steps`));
  const after = write("c");
  await expect(failing).rejects.toThrow("refused by a rule");
  await Promise.all([...before, second, after, ...meanwhile]);
  expect(done).toEqual([
    "the first fails after 0",
    "a is row 1",
    "b is row 2",
    "2 in steps",
    "c is row 5",
    "d is row 6",
  ]);
  expect(idsIn(world.db)).toEqual(["a", "b", "c", "d", "s", "t"]);
});

test("a write in steps that returns a promise does not compile, is refused at run time, and leaves no row", async () => {
  await using world = await createWorld();
  // @ts-expect-error a promise instead of a plain value
  const asynchronous = world.db.writeInSteps(function* (tx: Tx) {
    add(tx, "a");
    yield;
    return Promise.resolve();
  });
  await expect(asynchronous).rejects.toThrow("must not return a promise");
  expect(idsIn(world.db)).toEqual([]);
});

test("the pages of a write in steps go from the log into the file with the next commit", async () => {
  await using world = await createWorld();
  await world.db.write((tx) => void tx.get(sql`PRAGMA wal_autocheckpoint = 1`));
  await world.db.write((tx) => add(tx, "before"));
  const sizes = [statSync(world.file).size];
  await world.db.writeInSteps(adding(["a".repeat(200_000), "b".repeat(200_000)]));
  sizes.push(statSync(world.file).size);
  await world.db.write((tx) => add(tx, "c"));
  const [before = 0, inSteps, after] = [...sizes, statSync(world.file).size];
  expect(inSteps).toBe(before);
  expect(after).toBeGreaterThan(before + 400_000);
});

test("a process killed between the steps of a write leaves the former rows", async () => {
  await using world = await createWorld();
  const child = startChild("write-half", [world.file]);
  const before = await child.line();
  expect(await child.line()).toBe("half of it");
  expect(idsIn(world.db)).toEqual([before ?? ""]);
  child.kill();
  await child.ended();
  await world.db.write((tx) => add(tx, "after"));
  expect(idsIn(world.db).sort()).toEqual([before ?? "", "after"].sort());
});

test("acknowledged writes survive the death of the process", async () => {
  await using world = await createWorld();
  const acknowledged: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const child = startChild("write-forever", [world.file]);
    for (let line = 0; line < 50 + round * 37; line += 1)
      acknowledged.push((await child.line()) ?? "ended early");
    child.kill();
    acknowledged.push(...(await child.ended()).lines);
  }
  const reopened = openDatabase(world.file);
  const kept = new Set(idsIn(reopened));
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  expect(reopened.read.get<{ integrity_check: string }>(sql`PRAGMA integrity_check`)).toMatchObject(["ok"]);
  await reopened.close();
});

test("background writes share one commit, and the next ordinary write includes them", async () => {
  await using world = await createWorld();
  const commits = () => world.db.revision("jobs");
  const done: string[] = [];
  const write = (name: string) => (tx: Tx) => void tx.update(organizations).set({ name }).run();
  const begun = commits();
  const first = world.db.writeInBackground(write("first"), "jobs").then(() => done.push("first"));
  const second = world.db.writeInBackground(write("second"), "jobs").then(() => done.push("second"));
  await Bun.sleep(BACKGROUND_BATCH_MS / 5);
  expect(done).toEqual([]);
  await world.db.write(write("third"), "jobs");
  expect(done).toEqual(["first", "second"]);
  await Promise.all([first, second]);
  await world.db.writeInBackground(write("alone"), "jobs");
  expect(world.db.read.select().from(organizations).get()?.name).toBe("alone");
  expect(commits()).toBe(begun + 4);
});

test("a write waits for COMMIT, and COMMIT waits for the disk", async () => {
  await using world = await createWorld();
  const modes = await world.db.write((tx) => [
    tx.get<[number]>(sql`PRAGMA synchronous`)[0],
    tx.get<[string]>(sql`PRAGMA journal_mode`)[0],
  ]);
  expect(modes).toEqual([2, "wal"]);
});

// A failing read of a memory-mapped page would end the process (SIGBUS).
test("the file is not mapped into memory", async () => {
  await using world = await createWorld();
  expect(world.db.read.get<[number]>(sql`PRAGMA mmap_size`)).toEqual([0]);
});

test.each([
  ["before a change", (_: Tx) => {}],
  ["after a change", (tx: Tx) => add(tx, "undone")],
])("writes that share a commit survive one that fails %s, each runs once", async (_, change) => {
  await using world = await createWorld();
  const runs: string[] = [];
  const addOnce = (id: string) =>
    world.db.write((tx) => {
      runs.push(id);
      add(tx, id);
    });
  const failing = world.db.write((tx) => {
    change(tx);
    throw new Error("this one fails");
  });
  const outcomes = await Promise.allSettled([addOnce("a"), failing, addOnce("b")]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect([runs, idsIn(world.db)]).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});

test("the undo data of one of several writes stays in memory", async () => {
  await using world = await createWorld();
  const [temporaries] = await world.db.write((tx) => tx.get<[number]>(sql`PRAGMA temp_store`));
  expect(temporaries).toBe(2);
});

const INSERT_B = "INSERT INTO organizations (id, name, created_at_ms) VALUES ('b', 'b', 0)";

test("queries in one turn read one snapshot, whatever another process commits", async () => {
  await using world = await createWorld();
  using other = openConnection(world.file, {});
  const { read } = world.db; // as searches keep it open, with their statements
  const seen = world.db.readConsistently(() => {
    const before = idsIn(world.db);
    other.run(INSERT_B);
    Bun.sleepSync(2 * FOREIGN_COMMIT_CHECK_MS);
    world.db.revision("access");
    return [before, idsIn({ read })];
  });
  expect(seen).toEqual([[], []]);
  await nextTurn();
  expect(idsIn(world.db)).toEqual(["b"]);
});

test("reads within a held moment see that moment in every turn, and the present once it is released", async () => {
  await using world = await createWorld();
  using other = openConnection(world.file, {});
  const { read } = world.db;
  const outer = world.db.hold();
  const inner = world.db.hold();
  other.run(INSERT_B);
  await nextTurn();
  world.db.revision("access");
  Bun.sleepSync(2 * FOREIGN_COMMIT_CHECK_MS);
  expect([idsIn(world.db), idsIn({ read }), world.db.readConsistently(() => idsIn(world.db))]).toEqual([
    [],
    [],
    [],
  ]);
  inner[Symbol.dispose]();
  await nextTurn();
  expect(idsIn(world.db)).toEqual([]);
  outer[Symbol.dispose]();
  expect(idsIn(world.db)).toEqual(["b"]);
});

test("a commit of another process is visible in the next turn, and soon in this one", async () => {
  await using world = await createWorld();
  using other = openConnection(world.file, {});
  expect(idsIn(world.db)).toEqual([]);
  other.run(INSERT_B);
  Bun.sleepSync(2 * FOREIGN_COMMIT_CHECK_MS);
  expect(idsIn(world.db)).toEqual(["b"]);
  other.run("DELETE FROM organizations WHERE id = 'b'");
  await nextTurn();
  expect(idsIn(world.db)).toEqual([]);
});

test("a read after a revision was reported is not older than the revision", async () => {
  await using world = await createWorld();
  using other = openConnection(world.file, {});
  idsIn(world.db);
  other.run(INSERT_B);
  const told = world.db.revision("access");
  const seen = idsIn(world.db);
  await nextTurn();
  expect(seen.length > 0 || world.db.revision("access") !== told).toBe(true);
});

test("a caller that waited for one of our commits sees it, even if it was read before in that turn", async () => {
  await using world = await createWorld();
  const before = await world.db.write((tx) => {
    add(tx, "a");
    return idsIn(world.db);
  });
  expect([before, idsIn(world.db)]).toEqual([[], ["a"]]);
});

test("reading in every turn does not prevent checkpoints", async () => {
  await using world = await createWorld();
  const megabyte = "x".repeat(1024 * 1024);
  await world.db.write((tx) => add(tx, "a"));
  for (let nth = 0; nth < 80; nth += 1) {
    const name = `${nth}${megabyte}`;
    const written = world.db.write((tx) => void tx.update(organizations).set({ name }).run());
    idsIn(world.db);
    await written;
  }
  expect(statSync(`${world.file}-wal`).size).toBeLessThan(48 * megabyte.length);
});

test("a statement increments the revision of its topic with the commit, whatever topic its write names", async () => {
  await using world = await createWorld();
  const { db } = world;
  const revisions = () => [db.revision("access"), db.revision("catalog")];
  const statement = (tx: Tx) => {
    markTopicChanged(tx, "access");
    add(tx, "a");
  };
  const [access = 0, catalog = 0] = revisions();
  const failed = db.write((tx) => {
    statement(tx);
    throw new Error("undone");
  }, "unobserved");
  await failed.catch(() => {});
  await db.write((tx) => add(tx, "b"), "unobserved");
  expect(revisions()).toEqual([access, catalog]);
  await Promise.all([db.write(statement, "unobserved"), db.write((tx) => add(tx, "c"), "unobserved")]);
  expect(revisions()).toEqual([access + 1, catalog]);
  await db.writeInSteps(function* (tx) {
    markTopicChanged(tx, "access");
    yield;
    add(tx, "d");
  }, "unobserved");
  expect(revisions()).toEqual([access + 2, catalog]);
});

test("a write moves only the revision of its topic, a write without a topic every revision, a read none", async () => {
  await using world = await createWorld();
  const before = [world.db.revision("access"), world.db.revision("catalog")];
  idsIn(world.db);
  expect([world.db.revision("access"), world.db.revision("catalog")]).toEqual(before);
  await world.db.write((tx) => add(tx, "a"), "access");
  expect(world.db.revision("access")).not.toBe(before[0]);
  expect(world.db.revision("catalog")).toBe(before[1] ?? -1);
  await world.db.write((tx) => add(tx, "b"));
  expect(world.db.revision("catalog")).not.toBe(before[1]);
});

test("a failed write moves no revision", async () => {
  await using world = await createWorld();
  const before = world.db.revision("access");
  const failing = world.db.write(() => {
    throw new Error("refused by a rule");
  }, "access");
  await expect(failing).rejects.toThrow("refused by a rule");
  expect(world.db.revision("access")).toBe(before);
});

test("a commit of another process moves every revision once", async () => {
  await using world = await createWorld();
  const before = [world.db.revision("access"), world.db.revision("catalog")];
  await startChild("write-once", [world.file]).ended();
  const after = [world.db.revision("access"), world.db.revision("catalog")];
  expect(after[0]).not.toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect([world.db.revision("access"), world.db.revision("catalog")]).toEqual(after);
});

test("a commit of another process is noticed even if we write before we look", async () => {
  await using world = await createWorld();
  const before = world.db.revision("catalog");
  await startChild("write-once", [world.file]).ended();
  await world.db.write((tx) => add(tx, "a"), "access");
  expect(world.db.revision("catalog")).not.toBe(before);
});

test("requests that arrive together share one check for other processes' commits; the next one checks again", async () => {
  await using world = await createWorld();
  const other = openConnection(world.file, {});
  other.run("PRAGMA synchronous=OFF");
  const seen: number[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch() {
      await null; // as after a hook of the framework
      seen.push(world.db.revision("access"));
      other.run("UPDATE organizations SET name = name || '+'");
      await null;
      seen.push(world.db.revision("access"));
      return new Response("ok");
    },
  });
  const distinct: number[] = [];
  // On a busy machine each of the three commits can take FOREIGN_COMMIT_CHECK_MS; without a shared check every round has six revisions.
  for (let round = 0; round < SHARED_CHECK_ROUNDS && Math.min(...distinct) >= 6; round += 1) {
    seen.length = 0;
    await sendInOnePacket(server.port ?? 0, 3);
    await sendInOnePacket(server.port ?? 0, 1);
    const [together, next] = [seen.slice(0, 6), seen.slice(6)];
    distinct.push(new Set(together).size);
    expect(Math.min(...next)).toBeGreaterThan(Math.max(...together));
  }
  await server.stop(true);
  other.close();
  expect(Math.min(...distinct)).toBeLessThan(6);
});

const SHARED_CHECK_ROUNDS = 100;

/** Resolves when every request is answered. */
async function sendInOnePacket(port: number, requests: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let answered = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, bytes) {
        answered += bytes.toString();
        if (answered.split("200 OK").length > requests) resolve();
      },
    },
  });
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests));
  await promise;
  socket.end();
}

test("a lock held by another process is storage.busy, and the write works once it is free", async () => {
  await using world = await createWorld();
  const db = openDatabase(world.file, { busyTimeoutMs: 50 });
  const holder = startChild("hold-write-lock", [world.file]);
  expect(await holder.line()).toBe("held");
  expect(await reasonOf(db.write((tx) => add(tx, "a")))).toBe("storage.busy");
  expect(await reasonOf(db.writeInSteps(adding(["a", "b"])))).toBe("storage.busy");
  await expect(db.write((tx) => add(tx, "a"))).rejects.toMatchObject({
    hint: expect.stringContaining("names the process"),
  });
  expect(idsIn(db)).toEqual([]);
  holder.goOn();
  expect(await holder.line()).toBe("free");
  await db.write((tx) => add(tx, "a"));
  expect(idsIn(db)).toEqual(["a"]);
  await db.close();
});

/**
 * A file system of two megabytes in a mount namespace of the child; it disappears with the child. A new database and its log need
 * one megabyte.
 */
const smallDisk = (directory: string): string[] => {
  const namespace = ["unshare", ...(isRoot ? ["--mount"] : ["--map-root-user", "--mount"])];
  return [...namespace, "sh", "-c", `mount -t tmpfs -o size=2m none '${directory}' && exec "$0" "$@"`];
};

const [command = "", ...rest] = smallDisk("/mnt");
const canMount = spawnSync(command, [...rest, "true"]).status === 0;

// Where mounting is not permitted, the next test proves the same with a database that may not grow.
test.if(canMount)(
  "a full disk is storage.full for each write of a commit, until there is space again",
  async () => {
    const directory = temporaryDirectory();
    const child = startChild("fill-disk", [directory], { wrapper: smallDisk(directory) });
    const { lines, errors } = await child.ended();
    rmSync(directory, { recursive: true });
    const [before = "", first, second, after = "", ...kept] = lines;
    expect({ first, second, errors }).toEqual({ first: "storage.full", second: "storage.full", errors: "" });
    expect(kept.sort()).toEqual([before, after].map((line) => line.replace("acknowledged", "kept")).sort());
  },
);

test("a full database is storage.full, nothing is half written, and writes work again once there is space", async () => {
  await using world = await createWorld();
  await world.db.write((tx) => void tx.get(sql`PRAGMA max_page_count = 1`)); // as many as it has now
  const outcomes = await Promise.allSettled([
    world.db.write((tx) => add(tx, "a")),
    world.db.write((tx) => add(tx, "b".repeat(200_000))),
  ]);
  expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.reason)).toContain(
    "storage.full",
  );
  const acknowledged = ["a", "b"].filter((_, index) => outcomes[index]?.status === "fulfilled");
  expect(idsIn(world.db).map((id) => id.slice(0, 1))).toEqual(acknowledged);
  await world.db.write((tx) => void tx.get(sql`PRAGMA max_page_count = 1000000`));
  await world.db.write((tx) => add(tx, "c".repeat(200_000)));
  expect(idsIn(world.db).at(-1)).toBe("c".repeat(200_000));
});

test("SES-41 a refusal, and a write that needs no space, keep their results if they share a commit with a write without space", async () => {
  await using world = await createWorld();
  await world.db.write((tx) => void tx.get(sql`PRAGMA max_page_count = 1`));
  const outcomes = await Promise.allSettled([
    world.db.write(() => {
      throw new DomainError("unavailable", "sessions.disk_low", "there is no space");
    }),
    world.db.write((tx) => add(tx, "b".repeat(200_000))),
    world.db.write((tx) => tx.select().from(organizations).all().length),
  ]);
  const reasons = outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.reason);
  expect(reasons).toEqual(["sessions.disk_low", "storage.full", false]);
});

test("a database file without write permission is storage.not_permitted", async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  const file = join(directory, "quartermaster.db");
  writeFileSync(file, "", { mode: 0o444 });
  const { lines } = await startChild("open", [file], { userId: NOBODY }).ended();
  rmSync(directory, { recursive: true });
  expect(lines).toEqual(["storage.not_permitted: the database file is read-only"]);
});

test("a file that is not a database, a directory, a named pipe and a missing folder have a reason each, and say what to do", () => {
  const directory = temporaryDirectory();
  const file = join(directory, "letter.txt");
  writeFileSync(file, "Dear operator, ".repeat(100));
  mkdirSync(join(directory, "folder"));
  Bun.spawnSync(["mkfifo", join(directory, "pipe")]);
  const opening = (path: string) => Promise.resolve().then(() => openDatabase(path));
  const all = ["letter.txt", "folder", "pipe", "missing/quartermaster.db"].map((name) =>
    opening(join(directory, name)).catch((error: unknown) => error),
  );
  const failed = (hint: string, reason = "storage.failed") => ({
    reason,
    hint: expect.stringContaining(hint),
  });
  return Promise.all(all)
    .then((errors) =>
      expect(errors).toMatchObject([
        failed("backup restore", "storage.damaged"),
        failed("replace it with the file itself", "data_dir.not_regular"),
        failed("replace it with the file itself", "data_dir.not_regular"),
        failed("read and write"),
      ]),
    )
    .finally(() => rmSync(directory, { recursive: true }));
});

test("the database and its sidecar files can be read by their owner only", async () => {
  await using world = await createWorld();
  await world.db.write((tx) => add(tx, "a"));
  const modes = ["", "-wal", "-shm"].map((suffix) => statSync(world.file + suffix).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

test("closing waits for pending writes, may be repeated, and refuses later writes", async () => {
  await using world = await createWorld();
  const inSteps = world.db.writeInSteps(adding(["s", "t", "u"]));
  const writes = Array.from({ length: 200 }, (_, index) => world.db.write((tx) => add(tx, `w${index}`)));
  await Promise.all([world.db.close(), world.db.close()]);
  const outcomes = await Promise.allSettled([inSteps, ...writes]);
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  await expect(world.db.write((tx) => add(tx, "late"))).rejects.toThrow("closed");
  const reopened = openDatabase(world.file);
  expect(idsIn(reopened)).toHaveLength(203);
  await reopened.close();
});
