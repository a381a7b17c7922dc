// Keeps the contents of a repository's files in one temporary file until their order is known. Reads and writes are synchronous:
// this runs in its own thread.
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { invariant } from "../../../platform/errors.ts";

const BUFFER_BYTES = 256 * 1024;

/** The content of one file in the spool. */
export interface Spooled {
  offset: number;
  sizeBytes: number;
}

export class Spool implements Disposable {
  readonly #file: number;
  readonly #buffer = Buffer.alloc(BUFFER_BYTES);
  #filled = 0;
  #written = 0;

  /** @param path of a file that does not exist yet */
  constructor(path: string) {
    this.#file = openSync(path, "wx+", 0o600);
  }

  /** @returns where the next content begins */
  get offset(): number {
    return this.#written + this.#filled;
  }

  append(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.byteLength; ) {
      const part = bytes.subarray(start, start + BUFFER_BYTES - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.byteLength;
      start += part.byteLength;
      if (this.#filled === BUFFER_BYTES) this.flush();
    }
  }

  /** Writes everything to the file; call it before `read`. */
  flush(): void {
    writeFully(this.#file, this.#buffer.subarray(0, this.#filled));
    this.#written += this.#filled;
    this.#filled = 0;
  }

  /** @returns the content piece by piece; a piece is valid until the next one */
  *read({ offset, sizeBytes }: Spooled): Generator<Uint8Array> {
    for (let done = 0; done < sizeBytes; ) {
      const wanted = Math.min(BUFFER_BYTES, sizeBytes - done);
      const length = readSync(this.#file, this.#buffer, 0, wanted, offset + done);
      invariant(length > 0, "the spool has every byte that was appended");
      done += length;
      yield this.#buffer.subarray(0, length);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** Writes all bytes at the current position of the file. */
export function writeFully(file: number, bytes: Uint8Array): void {
  for (let start = 0; start < bytes.byteLength; )
    start += writeSync(file, bytes, start, bytes.byteLength - start);
}
