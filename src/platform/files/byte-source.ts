// Streams of bytes for readers of archives: counts them and reads exact lengths. One piece is in memory at a time.
type Bytes = AsyncIterable<Uint8Array>;

const EMPTY = new Uint8Array();

export interface Meter {
  bytes: number;
  max: number;
  /** creates the error for one byte too many */
  refuse(): Error;
}

/** Passes `stream` on and counts into `meter`; throws once the limit is exceeded. */
export async function* metered(stream: Bytes, meter: Meter): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    meter.bytes += chunk.byteLength;
    if (meter.bytes > meter.max) throw meter.refuse();
    yield chunk;
  }
}

/** Reads exact lengths from a stream of pieces of any length. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = EMPTY;

  /** @param truncated creates the error for a stream that ends too early */
  constructor(
    stream: Bytes,
    private readonly truncated: () => Error,
  ) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** @returns the next piece, of one to `lengthMax` bytes; empty at the end */
  async some(lengthMax: number): Promise<Uint8Array> {
    while (this.#rest.byteLength === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return EMPTY;
      this.#rest = next.value;
    }
    const piece = this.#rest.subarray(0, lengthMax);
    this.#rest = this.#rest.subarray(piece.byteLength);
    return piece;
  }

  /** @returns exactly `length` bytes, all in memory: the caller has bounded the length */
  async take(length: number): Promise<Uint8Array> {
    const taken = new Uint8Array(length);
    for (let offset = 0; offset < length; ) {
      const piece = await this.some(length - offset);
      if (piece.byteLength === 0) throw this.truncated();
      taken.set(piece, offset);
      offset += piece.byteLength;
    }
    return taken;
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) {
      const piece = await this.some(left);
      if (piece.byteLength === 0) throw this.truncated();
      left -= piece.byteLength;
    }
  }

  /** Closes the stream, also before its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
