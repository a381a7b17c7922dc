// Keeps space on the disk for the running service, and logs when writes need it, when it is whole again, and why it cannot be made.
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";
import { DiskReserve, RESERVE_BYTES } from "../../platform/files/disk-reserve.ts";
import type { Log } from "../../platform/observe/log.ts";

/** Also the time after a start: a command or a test that serves for a moment needs no reserve. */
const FILL_EVERY_MS = 5_000;

/** Makes room for the start on a full disk. @returns the reserve of the service */
export function openDiskReserve(directory: DataDirectory, log: Log, undo: AsyncDisposableStack): DiskReserve {
  const next = "free some space on the file system of the data directory";
  const reserve = new DiskReserve(directory.reserve, () => log.warning("disk.reserve_used", { next }));
  reserve.makeRoom();
  const timer = setInterval(fillingOf(reserve, log), FILL_EVERY_MS);
  undo.defer(() => clearInterval(timer));
  return reserve;
}

/** @returns a function that makes the reserve whole; it logs a failure once, until it succeeds or fails differently */
export function fillingOf(reserve: Pick<DiskReserve, "fill">, log: Log): () => Promise<void> {
  let failure = "";
  return async () => {
    try {
      if (await reserve.fill()) log.info("disk.reserve_made", { bytes: RESERVE_BYTES });
      failure = "";
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const hint = error instanceof DomainError ? error.hint : undefined;
      const next = hint ?? "see what is wrong with that file: quartermaster doctor";
      if (message !== failure) log.warning("disk.reserve_failed", { message, next });
      failure = message;
    }
  };
}
