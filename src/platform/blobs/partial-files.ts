// Names the partial files of a blob folder, and recognizes those that a killed process left.
import { opendir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../errors.ts";
import { isOwnProcessAlive } from "../process-liveness.ts";

const TEMPORARY = /^put-(\d{1,10})-([0-9a-f]{8})-[0-9a-f-]{36}$/;
/** distinguishes our temporary files from those of a dead process with the same id, as in a restarted container */
const PROCESS_TAG = crypto.randomUUID().slice(0, 8);

/** @returns the path of a new partial file */
export const partialFileIn = (directory: string): string =>
  join(directory, `put-${process.pid}-${PROCESS_TAG}-${crypto.randomUUID()}`);

/** Removes partial files of killed processes. @returns how many */
export async function sweepPartialFiles(directory: string): Promise<number> {
  let removed = 0;
  for await (const { name } of await opendir(directory)) {
    if (isLeftover(name) && (await unlinkIfThere(join(directory, name)))) removed += 1;
  }
  return removed;
}

function isLeftover(name: string): boolean {
  const [, pid, tag] = TEMPORARY.exec(name) ?? [];
  if (pid === undefined) return false;
  return Number(pid) === process.pid ? tag !== PROCESS_TAG : !isOwnProcessAlive(Number(pid));
}

/** @returns false if there was no such file */
export async function unlinkIfThere(path: string): Promise<boolean> {
  return await unlink(path).then(
    () => true,
    (error: unknown) => undefinedIfMissing(error) ?? false,
  );
}

/** @throws the error, unless it is ENOENT */
export function undefinedIfMissing(error: unknown): undefined {
  if (codeOf(error) !== "ENOENT") throw error;
}
