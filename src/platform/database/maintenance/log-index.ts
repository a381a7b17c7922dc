// The index beside the write-ahead log of a database (-shm), read and reset while SQLite has it open. Descriptors stay open: when a
// process closes any descriptor of a file, all its locks on that file end (POSIX), including SQLite's. The next process to open the
// database would consider itself the first one, and cut the index that this process has in its memory.
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";

/** SQLite file format, section 4.4: the two copies of the header. An index without them is made again from the log. */
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
 * Has SQLite make the index again from the log, which is what it does after a crash if no other program has the database open. Without
 * this, a commit that is in the log but not yet in the index is lost, and the next writer overwrites it, although a program that reads
 * the log itself, such as Litestream, has taken it. No lock is needed: a writer that commits now writes a whole header.
 * @param bytesMin length that the index gets if it is shorter
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
