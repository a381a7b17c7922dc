// Replaces the database of a data directory. After a power failure at any moment either the old or the new one is in use: a
// plan of the renames is written first, and the next process that opens the directory completes it. src/app/backup/restore.ts
// provides the new database.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Clock, fromStamp } from "../../clock.ts";
import { type DataDirectory, lockForServer } from "../../data-directory/data-directory.ts";
import type { ProcessLock } from "../../data-directory/process-lock.ts";
import { DomainError } from "../../errors.ts";
import { flushToDisk, readOwnFile, writeWholeFile } from "../../files/data-files.ts";
import { openConnection } from "../connection.ts";
import { sqliteErrorIn } from "../storage-errors.ts";
import { litestreamFolder } from "./replication.ts";

/** Folders in the data directory: one prepares the new database, the other keeps the old one. */
const STAGING = /^restoring-[0-9a-f-]{36}$/;
const ASIDE = /^replaced-(\d{8}T\d{6}Z)(?:-\d{1,4})?$/;
/** @returns the time at which the data in a folder of that name was replaced, UTC milliseconds; undefined for other names */
export function replacedAtMs(name: string): number | undefined {
  const [, stamp] = ASIDE.exec(name) ?? [];
  return stamp === undefined ? undefined : fromStamp(stamp);
}

/** How long a swap waits for other processes to close the database. */
const OTHERS_WAIT_MS = 500;
const SIDECARS = ["-wal", "-shm", "-journal"];

/** All files of a database. The log belongs to this database only, and Litestream must start again with another one. */
const filesOf = (database: string): string[] => [
  database,
  ...SIDECARS.map((end) => database + end),
  litestreamFolder(database),
];

const PlanSchema = Type.Object({
  staging: Type.String({ pattern: STAGING.source }),
  aside: Type.String({ pattern: ASIDE.source }),
});

type SwapPlan = Static<typeof PlanSchema>;

const planFile = ({ path }: DataDirectory): string => join(path, "restore.json");

/** @returns a new folder for preparing a database; `finishSwap` removes it if it is not used */
export function stagingIn({ path }: DataDirectory, uuid: string): string {
  const staging = join(path, `restoring-${uuid}`);
  mkdirSync(staging, { mode: 0o700 });
  return staging;
}

/**
 * Makes `quartermaster.db` of the staging folder the current database. The caller holds the server lock.
 * @param stamp time in the name of the folder that keeps the old database: `20260101T000000Z`
 * @returns that folder; undefined if there was no database
 * @throws DomainError `data_dir.busy` while another program has the old database open, `storage.*`
 */
export function swapIn(
  directory: DataDirectory,
  { staging, stamp }: { staging: string; stamp: string },
): string | undefined {
  const plan = { staging: basename(staging), aside: unusedAsideFolder(directory, stamp) };
  writePlan(directory, plan);
  try {
    assertUnused(directory);
  } catch (error) {
    rmSync(planFile(directory), { force: true });
    throw error;
  }
  carryOut(directory, plan);
  const aside = join(directory.path, plan.aside);
  return existsSync(aside) ? aside : undefined;
}

/** @returns whether a swap was interrupted and must be completed */
export const isSwapPending = (directory: DataDirectory): boolean => existsSync(planFile(directory));

/**
 * Completes an interrupted swap, for callers that do not hold the server lock.
 * @throws DomainError `data_dir.restoring` while a restore is running; the errors of finishSwap
 */
export function completeSwap(directory: DataDirectory, clock: Clock): void {
  if (!isSwapPending(directory)) return;
  const lock = lockForSwap(directory, clock);
  try {
    finishSwap(directory);
  } finally {
    lock.release();
  }
}

function lockForSwap(directory: DataDirectory, clock: Clock): ProcessLock {
  try {
    return lockForServer(directory, clock);
  } catch (cause) {
    throw new DomainError("unavailable", "data_dir.restoring", `a restore of ${directory.path} is running`, {
      hint: "try again when it is done",
      cause,
    });
  }
}

/**
 * Completes an interrupted swap, and removes unused staging folders. The caller holds the server lock.
 * @returns whether this call replaced the database
 * @throws DomainError `data_dir.restore_unreadable`, `storage.*`
 */
export function finishSwap(directory: DataDirectory): boolean {
  const isPending = isSwapPending(directory);
  if (isPending) carryOut(directory, readPlan(directory));
  for (const name of readdirSync(directory.path))
    if (STAGING.test(name)) rmSync(join(directory.path, name), { recursive: true, force: true });
  return isPending;
}

/** Each step may have been done before. The database in staging was complete and checked before the plan was written. */
function carryOut(directory: DataDirectory, { staging, aside }: SwapPlan): void {
  const fresh = join(directory.path, staging, basename(directory.database));
  if (existsSync(fresh)) {
    const folder = join(directory.path, aside);
    for (const path of filesOf(directory.database)) if (existsSync(path)) moveInto(folder, path);
    if (existsSync(folder)) flushToDisk(folder);
    renameSync(fresh, directory.database);
  }
  flushToDisk(directory.path);
  rmSync(planFile(directory), { force: true });
  rmSync(join(directory.path, staging), { recursive: true, force: true });
  flushToDisk(directory.path);
}

function moveInto(folder: string, path: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  renameSync(path, join(folder, basename(path)));
}

function unusedAsideFolder({ path }: DataDirectory, stamp: string): string {
  for (let again = 0; ; again++) {
    const name = `replaced-${stamp}${again === 0 ? "" : `-${again}`}`;
    if (!existsSync(join(path, name))) return name;
  }
}

const writePlan = (directory: DataDirectory, plan: SwapPlan): void =>
  writeWholeFile(planFile(directory), `${JSON.stringify(plan)}\n`);

function readPlan(directory: DataDirectory): SwapPlan {
  try {
    const plan: unknown = JSON.parse(readOwnFile(planFile(directory)).text);
    if (Value.Check(PlanSchema, plan)) return plan;
  } catch {
    // reported below
  }
  throw new DomainError(
    "conflict",
    "data_dir.restore_unreadable",
    `${planFile(directory)} is not a readable plan of a restore`,
    { hint: "if quartermaster.db exists and is intact, remove the plan; otherwise restore again" },
  );
}

/**
 * Checks that no other process has the old database open: its writes would be reported as durable and then set aside. Closing
 * the last connection also copies the write-ahead log into the file, so the one file is complete.
 * @throws DomainError `data_dir.busy`
 */
export function assertUnused({ database }: DataDirectory): void {
  if (!existsSync(database)) return;
  try {
    const connection = openConnection(database, { busyTimeoutMs: OTHERS_WAIT_MS });
    try {
      connection.run("PRAGMA locking_mode=EXCLUSIVE");
      connection.run("BEGIN IMMEDIATE");
      connection.run("COMMIT");
    } finally {
      connection.close();
    }
  } catch (error) {
    const code = sqliteErrorIn(error)?.code ?? "";
    if (code.startsWith("SQLITE_BUSY")) throw inUse(error);
    // A damaged database is a reason to restore, so it does not stop the swap.
    if (!code.startsWith("SQLITE_")) throw error;
  }
}

const inUse = (cause: unknown): DomainError =>
  new DomainError("unavailable", "data_dir.busy", "another program has the database open", {
    hint: "wait for other commands to end; stop `serve --only proxy` and replication, such as the unit quartermaster-litestream, before you restore",
    cause,
  });
