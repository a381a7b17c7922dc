// Frees memory after large work. The engine collects garbage only when the heap has doubled, so the process would stay as large
// as its largest request.

import { edenGC } from "bun:jsc";

/** Collects all garbage now, after large work. Takes 10 ms for 30 MB in use, and longer after thousands of event streams. */
export const collectGarbage = (): void => Bun.gc(true);

/**
 * Collects young garbage during large work. Takes 1 or 2 ms, for any amount of memory. What is in use at that time is freed only by
 * a full collection, so call it between two pieces of the work.
 */
export const collectNewGarbage = (): void => void edenGC();

/**
 * Collects young garbage after large work. Requests a collection in addition, which collects all garbage if the engine finds that due
 * and runs mostly in parallel to the event loop: collections of young garbage delay those that the engine starts itself.
 */
export function collectAfterLargeWork(): void {
  collectNewGarbage();
  Bun.gc(false);
}

/** Texts of at least this many characters are collected as soon as nothing needs them. */
export const LARGE_CHARACTERS = 512 * 1024;

const COLLECTED_EVERY_BYTES = 4 * 1024 * 1024;

/**
 * Collects the garbage of a long stream every few megabytes. The engine waits longer, because it sees only the small objects
 * that hold the pieces. Compressing the pieces becomes a few percent slower, so use it in a process that does little else.
 */
export class StreamGarbage {
  #bytes = 0;

  /** @param bytes produced since the last call */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < COLLECTED_EVERY_BYTES) return;
    this.#bytes = 0;
    collectGarbage();
  }
}
