// Whether Litestream has copied every commit in the log of SQLite. Its newest file shows the end of the copied part, and the index
// beside the log has the last committed frame (see the file format of the log in its documentation).
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { readIndex } from "../../../platform/database/maintenance/log-index.ts";
import { litestreamFolder } from "../../../platform/database/maintenance/replication.ts";

/** Header of a file of Litestream 0.5: the name of the format, then big-endian numbers of 8 and 4 bytes. */
const PART = { magic: "LTX1", offsetAt: 48, sizeAt: 56, saltsAt: 64, length: 72 };
/** Header of the index: numbers in the machine's byte order, and the salts as in the log. */
const INDEX = { isReadyAt: 12, pageSizeAt: 14, lastFrameAt: 16, saltsAt: 32, length: 40 };
const LOG_SALTS_AT = 16;
const SALTS_LENGTH = 8;
const LOG_HEADER_LENGTH = 32;
const FRAME_HEADER_LENGTH = 24;

/**
 * @param newest file of Litestream 0.5 with the highest transaction; undefined for 0.3, which copies the log itself
 * @returns undefined if the files do not show it, such as after the service has ended
 */
export function isLogCopied(database: string, newest: string | undefined): boolean | undefined {
  const index = readIndex(database, INDEX.length);
  const copied = newest === undefined ? copyOfLog(litestreamFolder(database)) : partIn(newest);
  if (!index || !copied || index[INDEX.isReadyAt] !== 1) return undefined;
  const end = committedEnd(index);
  if (end === LOG_HEADER_LENGTH) return true;
  const isSameLog = copied.salts.equals(index.subarray(INDEX.saltsAt, INDEX.saltsAt + SALTS_LENGTH));
  return isSameLog && copied.end >= end; // a restarted log has frames that nothing has copied
}

/** The part of a log that Litestream has copied; the salts identify the log. */
interface Copied {
  salts: Buffer;
  /** offset in the log */
  end: number;
}

function partIn(newest: string): Copied | undefined {
  const header = beginningOf(newest, PART.length);
  if (header?.toString("latin1", 0, 4) !== PART.magic) return undefined;
  const end = header.readBigUInt64BE(PART.offsetAt) + header.readBigUInt64BE(PART.sizeAt);
  return { salts: header.subarray(PART.saltsAt, PART.saltsAt + SALTS_LENGTH), end: Number(end) };
}

/** Litestream 0.3 keeps the log of the current generation in numbered files, each with the header of the log. */
function copyOfLog(folder: string): Copied | undefined {
  try {
    const generation = readFileSync(join(folder, "generation"), "utf8").trim();
    const copies = join(folder, "generations", generation, "wal");
    const newest = join(copies, readdirSync(copies).toSorted().at(-1) ?? "");
    const header = beginningOf(newest, LOG_HEADER_LENGTH);
    return (
      header && {
        salts: header.subarray(LOG_SALTS_AT, LOG_SALTS_AT + SALTS_LENGTH),
        end: statSync(newest).size,
      }
    );
  } catch {
    return undefined; // Litestream has not run
  }
}

/** @returns the offset in the log after the last committed frame */
function committedEnd(index: Buffer): number {
  const size = index.readUInt16LE(INDEX.pageSizeAt);
  const pageSize = size === 1 ? 65_536 : size; // 65,536 does not fit in two bytes
  return LOG_HEADER_LENGTH + index.readUInt32LE(INDEX.lastFrameAt) * (FRAME_HEADER_LENGTH + pageSize);
}

function beginningOf(path: string, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    return readSync(file, bytes, 0, length, 0) === length ? bytes : undefined;
  } catch {
    return undefined; // missing, or just being replaced by Litestream
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
