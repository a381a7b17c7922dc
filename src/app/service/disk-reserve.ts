// Keeps space on the disk for the running service, and logs when writes need it and when it is whole again.
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DiskReserve } from "../../platform/files/disk-reserve.ts";
import type { Log } from "../../platform/observe/log.ts";

/** Also the time after a start: a command or a test that serves for a moment needs no reserve. */
const FILL_EVERY_MS = 5_000;

/** @returns the reserve of a service that starts; it has room on a full disk already */
export function openDiskReserve(directory: DataDirectory, log: Log, undo: AsyncDisposableStack): DiskReserve {
  const next = "free some space on the file system of the data directory";
  const reserve = new DiskReserve(directory.reserve, () => log.warning("disk.reserve_used", { next }));
  reserve.makeRoom();
  const fill = async () => {
    try {
      if (await reserve.fill()) log.info("disk.reserve_made", { bytes: reserve.bytes });
    } catch (error) {
      log.warning("disk.reserve_failed", { message: String(error) });
    }
  };
  const timer = setInterval(fill, FILL_EVERY_MS);
  undo.defer(() => clearInterval(timer));
  return reserve;
}
