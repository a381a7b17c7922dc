// A limit on how finely a chunked body is divided. The runtime gives each chunk to the service by itself, which takes about a
// microsecond even for one byte, so a body of tiny chunks would cost many times its bytes and delay all other requests.
import { HttpError } from "../problems/problem.ts";

/** Chunks of any size that a body may have. */
export const SMALL_CHUNKS_MAX = 4_000;
/** Bytes that each further chunk must have on average. */
export const CHUNK_BYTES_MIN = 256;

/** Counts the chunks of one body. */
export class ChunkLimit {
  #chunks = 0;
  #bytes = 0;

  /** @returns whether the body may go on: false once it has too many small chunks */
  allows({ byteLength }: Uint8Array): boolean {
    this.#chunks += 1;
    this.#bytes += byteLength;
    return this.#chunks <= SMALL_CHUNKS_MAX + this.#bytes / CHUNK_BYTES_MIN;
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
