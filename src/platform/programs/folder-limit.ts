// Detects when a running program fills a folder beyond a limit. The system has no such limit, so the folder is measured periodically.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A fast disk writes about 100 MiB in this time. */
const MEASURED_EVERY_MS = 50;

export interface FolderLimit {
  /** symbolic links in it are not followed */
  path: string;
  bytesMax: number;
}

interface FolderWatch extends Disposable {
  bytesMax: number;
  /** Measures the folder again. */
  isExceeded(): boolean;
}

/** @param onExcess called at every measurement beyond the limit, until the watch is disposed */
export function watchFolder({ path, bytesMax }: FolderLimit, onExcess: () => void): FolderWatch {
  let wasExceeded = false;
  const isExceeded = () => {
    wasExceeded ||= bytesIn(path) > bytesMax;
    return wasExceeded;
  };
  const timer = setInterval(() => isExceeded() && onExcess(), MEASURED_EVERY_MS);
  return { bytesMax, isExceeded, [Symbol.dispose]: () => clearInterval(timer) };
}

/** @returns bytes of the files in a folder, without files that are removed during the call */
function bytesIn(folder: string): number {
  let names: string[] = [];
  try {
    names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return 0; // removed
  }
  return names.reduce((bytes, name) => {
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return bytes + (found?.isFile() ? found.size : 0);
  }, 0);
}
