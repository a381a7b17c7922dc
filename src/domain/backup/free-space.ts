// Checks for free disk space before a backup is written or unpacked.
import { diskSpace } from "../../platform/files/disk.ts";
import { insufficientDiskSpace } from "./errors.ts";

/** @throws DomainError `storage.full` if the file system of the folder has fewer free bytes than needed */
export function requireFreeSpace(folder: string, needed: number): void {
  const { availableBytes: available } = diskSpace(folder);
  if (available < needed) throw insufficientDiskSpace(folder, { needed, available });
}
