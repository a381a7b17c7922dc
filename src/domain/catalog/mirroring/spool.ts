// Keeps the contents of a repository's files in one temporary file until their order is known. Reads and writes are
// synchronous, because this runs in its own process.
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { invariant } from "../../../platform/errors.ts";
import { StreamGarbage } from "../../../platform/memory/garbage.ts";
import type { FileTaker } from "./host-archive.ts";
import type { MirroredFile } from "./mirror-format.ts";

/** Content up to this size is read as one piece. */
const SPOOL_PIECE_BYTES = 1024 * 1024;

/** A file whose content is in the spool. */
interface Spooled extends MirroredFile {
  offset: number;
}

export class Spool implements Disposable, FileTaker {
  /** in the order in which they were added */
  readonly files: Spooled[] = [];
  readonly #garbage = new StreamGarbage();
  readonly #file: number;
  readonly #buffer = Buffer.alloc(SPOOL_PIECE_BYTES);
  #filled = 0;
  #written = 0;

  /** @param path path of a new file */
  constructor(path: string) {
    this.#file = openSync(path, "wx+", 0o600);
  }

  async add(file: MirroredFile, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    this.files.push({ ...file, offset: this.#written + this.#filled });
    for await (const piece of content) this.#append(piece);
    this.#garbage.add(file.sizeBytes);
  }

  #append(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.byteLength; ) {
      const part = bytes.subarray(start, start + SPOOL_PIECE_BYTES - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.byteLength;
      start += part.byteLength;
      if (this.#filled === SPOOL_PIECE_BYTES) this.#flush();
    }
  }

  #flush(): void {
    writeFully(this.#file, this.#buffer.subarray(0, this.#filled));
    this.#written += this.#filled;
    this.#filled = 0;
  }

  /** @returns the content in pieces of SPOOL_PIECE_BYTES, the last of which may be shorter; a piece is valid until the next one */
  *read({ offset, sizeBytes }: Spooled): Generator<Uint8Array> {
    this.#flush();
    for (let done = 0; done < sizeBytes; ) {
      const length = Math.min(SPOOL_PIECE_BYTES, sizeBytes - done);
      for (let filled = 0; filled < length; ) {
        const read = readSync(this.#file, this.#buffer, filled, length - filled, offset + done + filled);
        invariant(read > 0, "the spool has every byte that was appended");
        filled += read;
      }
      done += length;
      yield this.#buffer.subarray(0, length);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

export function writeFully(file: number, bytes: Uint8Array): void {
  for (let start = 0; start < bytes.byteLength; )
    start += writeSync(file, bytes, start, bytes.byteLength - start);
}
