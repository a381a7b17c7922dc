// Whether Litestream 0.5 has copied every commit in the log of SQLite. The header of its newest file has the end of the copied part,
// and the index beside the log has the last committed frame (sqlite.org/walformat.html).
import { closeSync, openSync, readSync } from "node:fs";

/** Of a file of Litestream: the name of the format, then numbers of 8 and 4 bytes, the first byte being the highest. */
const COPIED = { magic: "LTX1", offsetAt: 48, sizeAt: 56, saltsAt: 64, length: 72 };
/** Of the index: numbers in the order of the machine, and the salts as they are in the log. */
const INDEX = { isReadyAt: 12, pageSizeAt: 14, lastFrameAt: 16, saltsAt: 32, length: 40 };
const SALTS_LENGTH = 8;
const LOG_HEADER_LENGTH = 32;
const FRAME_HEADER_LENGTH = 24;

/**
 * @param newest file of Litestream with the highest transaction
 * @returns undefined if the files do not tell, such as after the service has ended
 */
export function isLogCopied(database: string, newest: string): boolean | undefined {
  const copied = beginningOf(newest, COPIED.length);
  const index = beginningOf(`${database}-shm`, INDEX.length);
  if (!copied || !index || copied.toString("latin1", 0, 4) !== COPIED.magic || index[INDEX.isReadyAt] !== 1)
    return undefined;
  const end = committedEnd(index);
  if (end === LOG_HEADER_LENGTH) return true;
  const isSameLog = saltsIn(copied, COPIED.saltsAt).equals(saltsIn(index, INDEX.saltsAt));
  const copiedEnd = copied.readBigUInt64BE(COPIED.offsetAt) + copied.readBigUInt64BE(COPIED.sizeAt);
  return isSameLog && copiedEnd >= BigInt(end); // a log that has begun again has frames that nobody copied
}

/** @returns the offset in the log after the last committed frame */
function committedEnd(index: Buffer): number {
  const size = index.readUInt16LE(INDEX.pageSizeAt);
  const pageSize = size === 1 ? 65_536 : size; // as the format has it
  return LOG_HEADER_LENGTH + index.readUInt32LE(INDEX.lastFrameAt) * (FRAME_HEADER_LENGTH + pageSize);
}

const saltsIn = (bytes: Buffer, at: number): Buffer => bytes.subarray(at, at + SALTS_LENGTH);

function beginningOf(path: string, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    return readSync(file, bytes, 0, length, 0) === length ? bytes : undefined;
  } catch {
    return undefined; // missing, or replaced by Litestream at this moment
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
