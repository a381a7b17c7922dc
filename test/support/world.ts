// The small real world in which a test runs: a temporary directory, a migrated database file in it, a clock that only moves when
// told, the system's ids, and one organization. Each test adds areas and their services.
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Audit, createAudit } from "../../src/domain/audit/service.ts";
import { organizations } from "../../src/domain/identity/tables.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { type Db, openDatabase } from "../../src/platform/database/database.ts";
import { migrate } from "../../src/platform/database/schema/migrate.ts";
import { type Ids, systemIds } from "../../src/platform/ids.ts";
import { type Copy, remember } from "./content/copies.ts";

/** 2026-01-01T00:00:00.000Z */
export const START_MS = Date.UTC(2026, 0, 1);

/** A clock that stands still until a test moves it. */
export interface HeldClock extends Clock {
  advance(ms: number): void;
  set(ms: number): void;
}

export interface World extends AsyncDisposable {
  /** temporary, removed by `dispose` */
  readonly directory: string;
  /** path of the database file */
  readonly file: string;
  readonly db: Db;
  readonly clock: HeldClock;
  readonly ids: Ids;
  readonly audit: Audit;
  /** of the one organization, which has a row */
  readonly organizationId: string;
  /** the service itself as an actor in that organization */
  readonly system: Actor;
  /** Closes the database and removes the directory; called by `await using`. Can be repeated. */
  dispose(): Promise<void>;
}

/** @returns a clock that shows `startMs` until it is moved */
export function heldClock(startMs: number = START_MS): HeldClock {
  let now = startMs;
  return {
    nowMs: () => now,
    advance: (ms) => {
      now += ms;
    },
    set: (ms) => {
      now = ms;
    },
  };
}

/** name of the database file in a world */
export const DATABASE = "quartermaster.db";

export const PREFIX = "quartermaster-test-";

/** A file system in memory, if the machine has one with enough space: a world is written and synced more than it is read. */
const MEMORY = "/dev/shm";
const MEMORY_BYTES_MIN = 2 ** 30;

/** Where tests keep files that they write often. */
export const placeOfWorlds = hasSpace(MEMORY) ? MEMORY : tmpdir();

/** @returns a new empty directory, on the disk by default; the caller removes it */
export const temporaryDirectory = (place = tmpdir()): string => mkdtempSync(join(place, PREFIX));

function hasSpace(place: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize >= MEMORY_BYTES_MIN;
  } catch {
    return false; // there is none, or it belongs to another user
  }
}

export interface WorldOptions {
  startMs?: number;
  /** initial content of the directory; an empty database by default */
  copy?: Copy;
}

/** Opens a separate world for one test: `await using world = await createWorld()`. */
export async function createWorld({ startMs, copy }: WorldOptions = {}): Promise<World> {
  const directory = temporaryDirectory(placeOfWorlds);
  const file = join(directory, DATABASE);
  const clock = heldClock(startMs);
  const place = copy ?? copyOfEmpty();
  place(directory);
  const db = openDatabase(file);
  const organizationId = organizationIn(db) ?? (await addOrganization(db, clock.nowMs()));
  const dispose = disposer(db, directory);
  return {
    directory,
    file,
    db,
    clock,
    ids: systemIds,
    audit: createAudit({ clock }),
    organizationId,
    system: { kind: "system", id: null, label: "test", organizationId },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

const organizationIn = (db: Db): string | undefined =>
  db.read.select({ id: organizations.id }).from(organizations).limit(1).get()?.id;

async function addOrganization(db: Db, createdAtMs: number): Promise<string> {
  const id = systemIds.uuid();
  await db.write((tx) => {
    tx.insert(organizations).values({ id, name: "Test", createdAtMs }).run();
  });
  return id;
}

let emptyCopy: Copy | undefined;

/** @returns an empty database of the current schema, named DATABASE */
export function copyOfEmpty(): Copy {
  if (emptyCopy) return emptyCopy;
  const directory = temporaryDirectory();
  const options = { clock: heldClock(), version: "0.0.0-test", backupDirectory: join(directory, "backups") };
  migrate(join(directory, DATABASE), options);
  emptyCopy = remember(directory);
  rmSync(directory, { recursive: true });
  return emptyCopy;
}

function disposer(db: Db, directory: string): () => Promise<void> {
  let disposed: Promise<void> | undefined;
  return () => {
    disposed ??= db.close().then(() => rmSync(directory, { recursive: true, force: true }));
    return disposed;
  };
}
