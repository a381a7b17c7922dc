// The index beside the write-ahead log of a database (-shm), read and reset while SQLite has it open. Descriptors stay open: when a
// process closes any descriptor of a file, all its locks on that file end (POSIX), including SQLite's. The next process to open the
// database would consider itself the first one, and cut the index that this process has in its memory.
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";

/** SQLite file format, section 4.4: the two copies of the header. SQLite rebuilds an index without them from the log. */
const HEADER_BYTES = 96;

interface OpenIndex {
  descriptor: number;
  inode: number;
}

const readable = new Map<string, OpenIndex>();
const writable = new Map<string, OpenIndex>();

const indexOf = (database: string): string => `${database}-shm`;

/** @returns the first bytes; undefined if the index is missing or shorter */
export function readIndex(database: string, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  try {
    return readSync(descriptorOf(indexOf(database), readable, "r"), bytes, 0, length, 0) === length
      ? bytes
      : undefined;
  } catch {
    return undefined; // missing
  }
}

/**
 * Makes SQLite rebuild the index from the log. After a crash SQLite does so only if no other program has the database open. Otherwise a
 * commit that is in the log but not yet in the index is lost: the next writer overwrites it, although a program that reads the log
 * itself, such as Litestream, may have copied it. No lock is needed, because a writer that commits now writes a whole header.
 * @param bytesMin a shorter index is extended to this length
 */
export function resetIndex(database: string, bytesMin = 0): void {
  const path = indexOf(database);
  if (!existsSync(path)) return;
  const descriptor = descriptorOf(path, writable, "r+");
  const isShort = fstatSync(descriptor).size < bytesMin;
  if (isShort) writeSync(descriptor, new Uint8Array(1), 0, 1, Math.max(bytesMin, HEADER_BYTES) - 1);
  writeSync(descriptor, new Uint8Array(HEADER_BYTES), 0, HEADER_BYTES, 0);
}

function descriptorOf(path: string, opened: Map<string, OpenIndex>, flags: "r" | "r+"): number {
  const known = opened.get(path);
  if (known?.inode === statSync(path).ino) return known.descriptor;
  const descriptor = openSync(path, flags);
  opened.set(path, { descriptor, inode: fstatSync(descriptor).ino });
  if (known) closeSync(known.descriptor); // of a file that no process can open any more
  return descriptor;
}
