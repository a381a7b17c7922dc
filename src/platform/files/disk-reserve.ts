// A file that reserves disk space in case another program fills the disk. A commit that finds no space releases a part of it, so
// that sign-ins and deletions continue; see write-queue.ts. The service makes the file again when there is space.
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, ftruncateSync, openSync, type Stats, write } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { codeOf, DomainError, isDiskFull } from "../errors.ts";
import { permissionsText } from "./data-files.ts";
import { bytesText, diskSpace, FREE_BYTES_MIN } from "./disk.ts";

/** More than the log of the database needs before it is copied and reused. */
export const RESERVE_BYTES = 64 * 1024 * 1024;
/** The size of a released part: a few commits of all waiting writes, so that other programs get little of the reserve. */
export const RELEASED_BYTES = 256 * 1024;
/** The size of one write. The bytes are random, because a compressing file system would need no space for zeros. */
const BLOCK_BYTES = 1024 * 1024;
const OTHERS = 0o077;
/** Opening a named pipe must not block. */
const OWN_FILE = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The open call refuses these. */
const FOREIGN: Readonly<Record<string, string>> = {
  ELOOP: "a symbolic link",
  EISDIR: "a directory",
  ENXIO: "a socket or a device",
};

const writeTo = promisify(write);

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

  /** size of the file; 0 if it cannot be used */
  get bytes(): number {
    try {
      return reserveSizeOf(this.file) ?? 0;
    } catch {
      return 0; // `fill` and `doctor` report why
    }
  }

  /** Gives a part of the reserve to the file system. @returns false if nothing is left */
  release(): boolean {
    try {
      using reserve = openReserve(this.file);
      if (reserve === undefined || reserve.bytes === 0) return false;
      ftruncateSync(reserve.descriptor, Math.max(0, reserve.bytes - RELEASED_BYTES));
    } catch {
      return false; // the write that asks reports the full disk, and `fill` what is wrong with the file
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
   * @throws DomainError `data_dir.foreign_reserve`; errors of the system
   */
  async fill(): Promise<boolean> {
    if (this.#isFilling) return false;
    this.#isFilling = true;
    let bytes: number | undefined;
    try {
      const missing = RESERVE_BYTES - (reserveSizeOf(this.file) ?? 0);
      const hasRoom = diskSpace(dirname(this.file)).availableBytes >= missing + FREE_BYTES_MIN;
      if (missing > 0 && hasRoom) await this.#append(missing);
      bytes = reserveSizeOf(this.file);
      return missing > 0 && bytes === RESERVE_BYTES;
    } finally {
      this.#isFilling = false;
      this.#isInUse = bytes !== undefined && bytes < RESERVE_BYTES;
    }
  }

  async #append(bytes: number): Promise<void> {
    try {
      using reserve = openReserve(this.file, constants.O_CREAT);
      const block = randomBytes(BLOCK_BYTES);
      for (let left = bytes; reserve && left > 0; left -= BLOCK_BYTES)
        await writeTo(reserve.descriptor, block, 0, Math.min(left, BLOCK_BYTES));
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }
}

/** @returns the size of the reserve; undefined if there is none @throws DomainError `data_dir.foreign_reserve` */
export function reserveSizeOf(file: string): number | undefined {
  using reserve = openReserve(file);
  return reserve?.bytes;
}

interface OpenReserve extends Disposable {
  descriptor: number;
  bytes: number;
}

/**
 * Opens the reserve, but nothing that another program put in its place, which may lead to any file of this user.
 * @param create O_CREAT or nothing
 * @returns undefined if the file does not exist
 * @throws DomainError `data_dir.foreign_reserve`; an error of the system if the disk is full
 */
function openReserve(file: string, create = 0): OpenReserve | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, OWN_FILE | create, 0o600);
  } catch (error) {
    const code = codeOf(error) ?? "unknown error";
    if (code === "ENOENT") return undefined;
    throw isDiskFull(error) ? error : foreign(file, FOREIGN[code] ?? `not usable (${code})`);
  }
  const found = fstatSync(descriptor);
  const close = () => closeSync(descriptor);
  const fault = faultOf(found);
  if (fault === undefined) return { descriptor, bytes: found.size, [Symbol.dispose]: close };
  close();
  throw foreign(file, fault);
}

/** @returns what the file is; undefined for a reserve that `fill` has made */
function faultOf(found: Stats): string | undefined {
  if (!found.isFile()) return "a named pipe or a device";
  if (found.nlink !== 1) return `a file with ${found.nlink} hard links`;
  if (found.uid !== process.geteuid?.() || (found.mode & OTHERS) !== 0)
    return `a file with ${permissionsText(found)}`;
  return found.size > RESERVE_BYTES ? `a file of ${bytesText(found.size)}` : undefined;
}

const foreign = (file: string, what: string): DomainError =>
  new DomainError(
    "forbidden",
    "data_dir.foreign_reserve",
    `${file} is ${what}, so it reserves no disk space`,
    {
      hint: `find out who created ${file}, and remove it: the service then creates its own`,
    },
  );
