// Large files that a thread writes and hashes: the same bytes as without it, nothing left after a failure, and no endless wait.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { constants, getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { type Blobs, INLINE_BYTES_MAX, openBlobs, parseDigest } from "../../../src/platform/blobs/blobs.ts";
import { WriteThread } from "../../../src/platform/blobs/write-thread.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { UPLOAD_NICENESS } from "../../../src/platform/programs/priority.ts";

const PIECE_BYTES = 65_536;
const LARGE = { maxBytes: 8 * INLINE_BYTES_MAX, givesAway: true };

let directory: string;
let thread: WriteThread;
let blobs: Blobs;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "write-thread-"));
  thread = new WriteThread();
  blobs = await openBlobs(directory, thread.open);
});
afterEach(() => {
  thread[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

const filled = (size: number, seed: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(size).map((_, at) => at * seed + (at >> 8));

async function* piecesOf(bytes: Uint8Array, each = PIECE_BYTES): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += each) yield bytes.slice(at, at + each);
}

const openTemporary = () => open(join(directory, "put-by-hand"), "wx");

/** @returns ids of this process's threads with a lower priority than requests: field 19 in proc(5), field 17 after the name */
function giving(): string[] {
  const niceness = Math.min(constants.priority.PRIORITY_LOW, getPriority() + UPLOAD_NICENESS);
  return readdirSync("/proc/self/task").filter((id) => {
    const stat = textOf(`/proc/self/task/${id}/stat`);
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]) >= niceness;
  });
}

/** @returns undefined for a thread that has just ended */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const partialFiles = () => readdirSync(directory).filter((name) => name.startsWith("put-"));

/** Runs in the middle of a stream. */
async function* interrupted(then: () => void): AsyncGenerator<Uint8Array> {
  yield filled(PIECE_BYTES, 3);
  then();
  yield filled(PIECE_BYTES, 5);
  yield filled(PIECE_BYTES, 7);
}

test("SES-61 many concurrent files have their own bytes and digests", async () => {
  const files = [1, 2, 3, 4, 5].map((seed) => filled(INLINE_BYTES_MAX + seed * 1_000, seed));
  const stored = await Promise.all(
    files.map((bytes, at) => blobs.put(piecesOf(bytes, 10_000 * (at + 1)), LARGE)),
  );
  expect(stored.map(({ digest }) => String(digest))).toEqual(files.map((bytes) => sha256Hex(bytes)));
  for (const [at, { digest }] of stored.entries())
    expect(readFileSync(blobs.path(digest)).equals(files[at] ?? Buffer.alloc(0))).toBe(true);
});

test("a piece of a larger buffer leaves the rest of the buffer unchanged", async () => {
  const memory = filled(3 * PIECE_BYTES, 11);
  const middle = memory.subarray(PIECE_BYTES, 2 * PIECE_BYTES);
  async function* one() {
    yield middle;
  }
  expect(String((await blobs.put(one(), LARGE)).digest)).toBe(sha256Hex(middle));
  expect(memory.byteLength).toBe(3 * PIECE_BYTES);
});

test.each([
  ["below the limit is written inline", { maxBytes: INLINE_BYTES_MAX - 1, givesAway: true }, false],
  ["at the limit is written inline", { maxBytes: INLINE_BYTES_MAX, givesAway: true }, false],
  ["above the limit is written in the thread", { maxBytes: INLINE_BYTES_MAX + 1, givesAway: true }, true],
  [
    "above the limit is written inline if its source keeps the pieces",
    { maxBytes: INLINE_BYTES_MAX + 1 },
    false,
  ],
])("SES-61 a file %s", async (_what, options, isStarted) => {
  await blobs.put(piecesOf(filled(PIECE_BYTES, 13)), options);
  expect(thread.isRunning).toBe(isStarted);
});

test("SES-60 takes at most two pieces before the thread has written one", async () => {
  await using file = await openTemporary();
  await using writer = thread.open(file);
  for (let at = 0; at < 3; at += 1) {
    const piece = filled(PIECE_BYTES, at);
    await writer.write(piece);
    expect((await file.stat()).size).toBeGreaterThanOrEqual(at * PIECE_BYTES);
    expect(piece.byteLength).toBe(0); // the buffer was transferred
  }
});

test.if(process.platform === "linux")(
  "SES-61 the thread has a lower priority than the one that answers requests",
  async () => {
    const before = new Set(giving());
    await blobs.put(piecesOf(filled(PIECE_BYTES, 17)), LARGE);
    expect(giving().filter((id) => !before.has(id))).not.toBeEmpty(); // a thread that it starts has the same priority
  },
);

describe("nothing is left", () => {
  test("leaves nothing after unexpected bytes", async () => {
    const expectedDigest = parseDigest(sha256Hex("other bytes"));
    const put = blobs.put(piecesOf(filled(INLINE_BYTES_MAX, 19)), { ...LARGE, expectedDigest });
    expect(put).rejects.toMatchObject({ reason: "artifact.digest_mismatch" });
    await put.catch(() => {});
    expect([partialFiles(), await Array.fromAsync(blobs.list())]).toEqual([[], []]);
  });

  test("leaves nothing after a stream that fails", async () => {
    const put = blobs.put(
      interrupted(() => {
        throw new Error("cut");
      }),
      LARGE,
    );
    expect(put).rejects.toThrow("cut");
    await put.catch(() => {});
    expect(partialFiles()).toEqual([]);
  });

  test("SES-57 leaves nothing after the thread has ended, and the next file gets a new thread", async () => {
    const put = blobs.put(
      interrupted(() => thread[Symbol.dispose]()),
      LARGE,
    );
    expect(put).rejects.toMatchObject({ kind: "unavailable", reason: "artifact.thread_ended" });
    await put.catch(() => {});
    expect(partialFiles()).toEqual([]);
    const bytes = filled(INLINE_BYTES_MAX, 23);
    expect(String((await blobs.put(piecesOf(bytes), LARGE)).digest)).toBe(sha256Hex(bytes));
  });
});

test("an idle thread ends", async () => {
  using brief = new WriteThread(1);
  const others = await openBlobs(directory, brief.open);
  await others.put(piecesOf(filled(PIECE_BYTES, 29)), LARGE);
  while (brief.isRunning) await Bun.sleep(1);
  await others.put(piecesOf(filled(PIECE_BYTES, 31)), LARGE);
});
