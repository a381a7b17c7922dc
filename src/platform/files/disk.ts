// Free disk space: for the metrics, `doctor`, /ready, and checks before large writes.
import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";

export interface DiskSpace {
  sizeBytes: number;
  /** available to this user */
  availableBytes: number;
}

/** @returns the size and free space of the file system that holds `path` */
export function diskSpace(path: string): DiskSpace {
  const { bsize, blocks, bavail } = statfsSync(path);
  return { sizeBytes: blocks * bsize, availableBytes: bavail * bsize };
}

/** With fewer free bytes the service reports itself unhealthy: the next write, checkpoint or artifact may not fit. */
export const FREE_BYTES_MIN = 16 * 1024 * 1024;

/** @returns whether fewer than FREE_BYTES_MIN are free */
export const isNearlyFull = ({ availableBytes }: Pick<DiskSpace, "availableBytes">): boolean =>
  availableBytes < FREE_BYTES_MIN;

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** @returns `412.3 MiB` */
export function bytesText(bytes: number): string {
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), BYTE_UNITS.length - 1);
  const scaled = bytes / 1024 ** step;
  return `${step === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${BYTE_UNITS[step]}`;
}

/** @returns bytes; 0 if the file does not exist */
export const fileSizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** @returns bytes of all regular files in a folder and below; 0 if the folder does not exist */
export const folderSizeOf = (folder: string): number =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
    : 0;
