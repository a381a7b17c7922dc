// Frees the memory of a stream's pieces after their use. The garbage collector would do so much later, because it sees only the
// small objects that hold the pieces: a long stream would pile up tens of megabytes.

/**
 * Passes the pieces of a stream on, and frees each when the next one is requested. The stream must not keep its pieces, and the
 * reader must be done with a piece when it requests the next one.
 */
export async function* releasing(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    yield piece;
    release(piece);
  }
}

/** Leaves a piece that shares its memory to the collector. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
