// Reads one small file for the configuration: regular files up to a size limit, text in UTF-8.
// config/file.ts (YAML) and config/sources.ts (secrets) interpret the content.
import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { codeOf } from "../errors.ts";

export interface SmallFile {
  readonly text: string;
  /** anyone on this machine may read it */
  readonly isWorldReadable: boolean;
}

export interface SmallBytes {
  readonly bytes: Uint8Array;
  /** anyone on this machine may read it */
  readonly isWorldReadable: boolean;
}

/** Why the file cannot be used. `line` is 1-based; undefined if the problem is not in one line. */
export interface Unreadable {
  readonly wrong: string;
  readonly isMissing?: boolean;
  readonly isForbidden?: boolean;
  readonly line?: number;
}

const OTHERS_MAY_READ = 0o004;
const LINE_FEED = 0x0a;

/**
 * @param path absolute
 * @returns the text without a byte order mark, or the reason, worded to follow the file's name ("does not exist")
 */
export function readSmallFile(path: string, sizeBytesMax: number): SmallFile | Unreadable {
  const small = readSmallBytes(path, sizeBytesMax);
  if ("wrong" in small) return small;
  const { bytes, isWorldReadable } = small;
  if (!isUtf8(bytes)) return { wrong: "is not UTF-8 text", line: firstBrokenLine(bytes) };
  return { text: new TextDecoder().decode(bytes), isWorldReadable };
}

/**
 * @param path absolute
 * @returns the content of the file, or the reason, worded to follow its name
 */
export function readSmallBytes(path: string, sizeBytesMax: number): SmallBytes | Unreadable {
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would block forever.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return reasonOf(error);
  }
  try {
    return readOpen(descriptor, sizeBytesMax);
  } catch (error) {
    return reasonOf(error);
  } finally {
    closeSync(descriptor);
  }
}

function readOpen(descriptor: number, sizeBytesMax: number): SmallBytes | Unreadable {
  const status = fstatSync(descriptor);
  if (!status.isFile()) return { wrong: "is not a regular file" };
  if (status.size > sizeBytesMax) return { wrong: `is larger than ${sizeBytesMax} bytes` };
  return {
    bytes: readFileSync(descriptor),
    isWorldReadable: (status.mode & OTHERS_MAY_READ) !== 0,
  };
}

function firstBrokenLine(bytes: Uint8Array): number {
  let start = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

function reasonOf(error: unknown): Unreadable {
  const code = codeOf(error) ?? "unknown error";
  if (code === "ENOENT" || code === "ENOTDIR") return { wrong: "does not exist", isMissing: true };
  return { wrong: `cannot be read by this user (${code})`, isForbidden: code === "EACCES" };
}
