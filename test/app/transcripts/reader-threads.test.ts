// A thread reads captured sessions: its results, and the limit on waiting readers.
import { expect, test } from "bun:test";
import { READERS_WAITING_MAX, ReaderThreads } from "../../../src/app/transcripts/reader-threads.ts";
import { SECRETS_MAX } from "../../../src/domain/sessions/transcript/limits.ts";
import { START } from "../../../src/domain/sessions/transcript/model.ts";
import { inlineTranscriptReader } from "../../../src/domain/sessions/transcript/reader.ts";
import { bundleOf, TRANSCRIPTS } from "../../support/content/session-bundles.ts";

const BYTES = bundleOf("codex", TRANSCRIPTS.codex ?? "");
const stored = async function* () {
  yield BYTES.subarray(0, 7);
  yield BYTES.subarray(7);
};
const AS = { format: "blue-session-bundle-v1", harness: "codex" } as const;

test("CON-37 a thread returns the same results and errors as this process", async () => {
  const threads = new ReaderThreads();
  const here = await inlineTranscriptReader.page(stored, AS, START);
  expect(here.entries.length).toBeGreaterThan(0);
  expect(await threads.page(stored, AS, START)).toEqual(here);
  const empty = async function* () {};
  expect(threads.page(empty, AS, START)).rejects.toMatchObject({ reason: "sessions.no_transcript" });
  const broken = async function* (): AsyncGenerator<Uint8Array> {
    yield BYTES.subarray(0, 7);
    throw new Error("the store went away");
  };
  await expect(threads.page(broken, AS, START)).rejects.toThrow("the store went away");
});

test("a bounded number of readers waits for the thread", async () => {
  const threads = new ReaderThreads();
  const gate = Promise.withResolvers<void>();
  const held = async function* () {
    await gate.promise;
    yield BYTES;
  };
  const first = threads.page(held, AS, START);
  await Promise.resolve();
  const waiting = Array.from({ length: READERS_WAITING_MAX }, () => threads.page(stored, AS, START));
  expect(() => threads.page(stored, AS, START)).toThrow("sessions are being read");
  gate.resolve();
  const pages = await Promise.all([first, ...waiting]);
  expect(pages).toHaveLength(READERS_WAITING_MAX + 1);
  expect((await threads.page(stored, AS, START)).entries).toEqual(pages[0]?.entries ?? []);
});

test.each([SECRETS_MAX - 1, SECRETS_MAX, SECRETS_MAX + 1])(
  "a scan counts up to its limit: %p",
  async (count) => {
    const keys = Array.from({ length: count }, (_, at) => `npm_${String(at).padStart(36, "0")}`);
    const text = `${JSON.stringify({ keys })}\n`;
    const { total, isWhole } = await inlineTranscriptReader.scan(async function* () {
      yield bundleOf("codex", text);
    }, AS);
    expect([total, isWhole]).toEqual([Math.min(count, SECRETS_MAX), count < SECRETS_MAX]);
  },
);
