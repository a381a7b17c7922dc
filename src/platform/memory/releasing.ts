// Frees the memory of the pieces of a stream when they were used. The garbage collector does that much later, because it sees only the
// small objects that hold the pieces: a long stream would pile up some ten megabytes.

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

/** A piece that shares its memory with others is left to the collector. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
