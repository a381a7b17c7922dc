// Keeps references to the first and last bytes of a response while it is forwarded, so that its usage can be read without keeping
// the whole response. usage.ts reads them.

export const HEAD_BYTES = 4 * 1024;
export const TAIL_BYTES = 16 * 1024;

export class ResponseEnds {
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #allBytes = 0;
  #tail: Uint8Array[] = [];
  /** pieces before this one are no longer in the tail */
  #tailStart = 0;
  #tailBytes = 0;

  /** Adds a forwarded piece, whose bytes must not change afterwards. */
  push(piece: Uint8Array): void {
    this.#allBytes += piece.length;
    if (this.#headBytes < HEAD_BYTES) {
      this.#head.push(piece);
      this.#headBytes += piece.length;
    }
    this.#tail.push(piece);
    this.#tailBytes += piece.length;
    this.#dropOld();
  }

  /** whether both `head` and `tail` are the whole response */
  get isShort(): boolean {
    return this.#headBytes <= HEAD_BYTES && this.#headBytes === this.#allBytes;
  }

  /** @returns at most the first HEAD_BYTES */
  head(): Buffer {
    const head = joined(this.#head);
    return head.length <= HEAD_BYTES ? head : head.subarray(0, HEAD_BYTES);
  }

  /** @returns at most the last TAIL_BYTES */
  tail(): Buffer {
    const tail = joined(this.#tailStart === 0 ? this.#tail : this.#tail.slice(this.#tailStart));
    return tail.length <= TAIL_BYTES ? tail : tail.subarray(-TAIL_BYTES);
  }

  /** @returns at most this many of the last bytes */
  last(count: number): string {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (let at = this.#tail.length - 1; at >= this.#tailStart && bytes < count; at -= 1) {
      const piece = this.#tail[at];
      if (piece) pieces.unshift(piece);
      bytes += piece?.length ?? 0;
    }
    return Buffer.concat(pieces).subarray(-count).toString("latin1");
  }

  #dropOld(): void {
    for (;;) {
      const oldest = this.#tail[this.#tailStart]?.length ?? 0;
      if (this.#tailStart === this.#tail.length - 1 || this.#tailBytes - oldest < TAIL_BYTES) break;
      this.#tailBytes -= oldest;
      this.#tailStart += 1;
    }
    if (this.#tailStart < COMPACT_AFTER) return;
    this.#tail = this.#tail.slice(this.#tailStart);
    this.#tailStart = 0;
  }
}

/** Most responses are one piece, which need not be copied. */
function joined(pieces: readonly Uint8Array[]): Buffer {
  const [only] = pieces;
  return only && pieces.length === 1
    ? Buffer.from(only.buffer, only.byteOffset, only.length)
    : Buffer.concat(pieces);
}

/** Maximum number of dropped pieces that the list holds before it is compacted. */
const COMPACT_AFTER = 64;
