// Whether the log of SQLite ends with a commit that its index does not have yet: a process that is killed between the two leaves
// the commit in the file, and the next process that writes begins where the index ends.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

const INDEX_LENGTH = 48;
const HEADER_LENGTH = 32;
const FRAME_HEADER_LENGTH = 24;

/** @returns frames after the end of the index that belong to complete commits; undefined while a process changes the index */
export function framesWithoutIndex(database: string): number | undefined {
  const index = beginningOf(`${database}-shm`, INDEX_LENGTH);
  if (index?.[12] !== 1) return undefined;
  const log = readFileSync(`${database}-wal`);
  if (log.length < HEADER_LENGTH) return 0;
  const again = beginningOf(`${database}-shm`, INDEX_LENGTH);
  if (!again?.equals(index)) return undefined;
  const pageSize = index.readUInt16LE(14) === 1 ? 65_536 : index.readUInt16LE(14);
  const lastFrame = index.readUInt32LE(16);
  const salts = index.subarray(32, 40);
  if (!salts.equals(log.subarray(16, 24))) return 0;
  const isBigEndian = log.readUInt32BE(0) === 0x377f0683;
  let sums: [number, number] = [index.readUInt32LE(24), index.readUInt32LE(28)];
  if (lastFrame === 0) sums = [log.readUInt32BE(24), log.readUInt32BE(28)];
  let complete = 0;
  for (let frame = lastFrame; ; frame += 1) {
    const at = HEADER_LENGTH + frame * (FRAME_HEADER_LENGTH + pageSize);
    if (at + FRAME_HEADER_LENGTH + pageSize > log.length) return complete;
    if (!salts.equals(log.subarray(at + 8, at + 16))) return complete;
    sums = checksum(sums, log.subarray(at, at + 8), isBigEndian);
    sums = checksum(
      sums,
      log.subarray(at + FRAME_HEADER_LENGTH, at + FRAME_HEADER_LENGTH + pageSize),
      isBigEndian,
    );
    if (sums[0] !== log.readUInt32BE(at + 16) || sums[1] !== log.readUInt32BE(at + 20)) return complete;
    if (log.readUInt32BE(at + 4) !== 0) complete = frame + 1 - lastFrame;
  }
}

function checksum([first, second]: [number, number], bytes: Buffer, isBigEndian: boolean): [number, number] {
  const read = (at: number) => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  let one = first;
  let two = second;
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + read(at) + two) >>> 0;
    two = (two + read(at + 4) + one) >>> 0;
  }
  return [one, two];
}

function beginningOf(path: string, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  const file = openSync(path, "r");
  try {
    return readSync(file, bytes, 0, length, 0) === length ? bytes : undefined;
  } finally {
    closeSync(file);
  }
}
