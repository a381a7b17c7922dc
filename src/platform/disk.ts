// How much room there is: for the metrics, `doctor`, and whoever is about to write much.
import { statfsSync, statSync } from "node:fs";

export interface Room {
  sizeBytes: number;
  /** that this user may still fill */
  availableBytes: number;
}

/** @returns the room of the file system that holds `path` */
export function roomOf(path: string): Room {
  const { bsize, blocks, bavail } = statfsSync(path);
  return { sizeBytes: blocks * bsize, availableBytes: bavail * bsize };
}

/** @returns bytes; 0 for a file that is not there */
export const fileSizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
