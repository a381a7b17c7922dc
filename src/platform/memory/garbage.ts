// Memory after large work. The engine collects garbage when it has doubled, which is late after a request of many megabytes:
// the process would stay as large as its largest request.

/** Collects garbage now, between two pieces of large work; takes 3 to 15 ms, more after thousands of event streams. */
export const collectGarbage = (): void => Bun.gc(true);

/** Texts of at least this many characters are collected as soon as nothing needs them. */
export const LARGE_CHARACTERS = 512 * 1024;
