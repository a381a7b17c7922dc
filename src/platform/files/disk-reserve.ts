// A file that reserves disk space in case another program fills the disk. A commit that finds no space releases a part of it, so
// that sign-ins and deletions continue; see write-queue.ts. The service makes the file again when there is space.
import { randomBytes } from "node:crypto";
import { existsSync, truncateSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { isDiskFull } from "../errors.ts";
import { diskSpace, FREE_BYTES_MIN, fileSizeOf } from "./disk.ts";

/** More than the log of the database needs before it is copied and reused. */
export const RESERVE_BYTES = 64 * 1024 * 1024;
/** The size of a released part: a few commits of all waiting writes, so that other programs get little of the reserve. */
export const RELEASED_BYTES = 256 * 1024;
/** The size of one write. The bytes are random, because a compressing file system would need no space for zeros. */
const BLOCK_BYTES = 1024 * 1024;

export class DiskReserve {
  #isInUse = false;
  #isFilling = false;

  /** @param used called when a write needs a part of a whole reserve */
  constructor(
    private readonly file: string,
    private readonly used: () => void = () => {},
  ) {}

  /** whether a part of it is released; writes that can wait then leave the space to others */
  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** size of the file */
  get bytes(): number {
    return fileSizeOf(this.file);
  }

  /** Gives a part of the reserve to the file system. @returns false if nothing is left */
  release(): boolean {
    const { bytes } = this;
    if (bytes === 0) return false;
    try {
      truncateSync(this.file, Math.max(0, bytes - RELEASED_BYTES));
    } catch {
      return false; // the write that asks reports the full disk
    }
    if (!this.#isInUse) this.used();
    this.#isInUse = true;
    return true;
  }

  /** Releases what a start of the service needs: lock, state, and shared memory of the database. */
  makeRoom(): void {
    if (diskSpace(dirname(this.file)).availableBytes < RELEASED_BYTES) this.release();
  }

  /**
   * Makes the file whole if the disk keeps FREE_BYTES_MIN free.
   * @returns whether it has become whole now
   * @throws errors of the system
   */
  async fill(): Promise<boolean> {
    const missing = RESERVE_BYTES - this.bytes;
    const hasRoom = diskSpace(dirname(this.file)).availableBytes >= missing + FREE_BYTES_MIN;
    if (missing > 0 && hasRoom && !this.#isFilling) await this.#append(missing);
    this.#isInUse = existsSync(this.file) && this.bytes < RESERVE_BYTES;
    return missing > 0 && this.bytes >= RESERVE_BYTES;
  }

  async #append(bytes: number): Promise<void> {
    this.#isFilling = true;
    try {
      const block = randomBytes(BLOCK_BYTES);
      await using file = await open(this.file, "a", 0o600);
      for (let left = bytes; left > 0; left -= BLOCK_BYTES)
        await file.write(block, 0, Math.min(left, BLOCK_BYTES));
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    } finally {
      this.#isFilling = false;
    }
  }
}
