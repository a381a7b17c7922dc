// A limit on how finely a chunked body is divided. The runtime passes each chunk to the service separately, which takes about a
// microsecond even for one byte, so a body of tiny chunks would cost many times its bytes and delay all other requests.
import { HttpError } from "../problems/problem.ts";

/** Chunks of any size that a body may have in a row. */
export const SMALL_CHUNKS_MAX = 4_000;
/** Bytes that allow one more chunk, up to SMALL_CHUNKS_MAX: large chunks do not earn an unlimited number of small ones. */
export const CHUNK_BYTES_MIN = 256;

/** Counts the chunks of one body. */
export class ChunkLimit {
  #left = SMALL_CHUNKS_MAX;

  /** @returns whether the body may go on: false once it has too many small chunks */
  allows({ byteLength }: Uint8Array): boolean {
    this.#left = Math.min(SMALL_CHUNKS_MAX, this.#left + byteLength / CHUNK_BYTES_MIN) - 1;
    return this.#left >= 0;
  }
}

/** @returns the error for a body that `allows` stopped */
export const tinyChunks = () =>
  new HttpError(
    400,
    "request.tiny_chunks",
    `the body has too many small chunks; send it with Content-Length, or in chunks of at least ${CHUNK_BYTES_MIN} bytes`,
    { headers: { connection: "close" } },
  );
