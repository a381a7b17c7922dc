// Archives with a few bytes changed, inserted, moved, cut or repeated: each is accepted or refused as an archive, never with
// another error. The gzip checksum covers the content, so an accepted changed file has the content of the original.
import { expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { inspectArchive } from "../../src/domain/catalog/archive/archive.ts";
import { DomainError } from "../../src/platform/errors.ts";
import { chunksOf, tarEntry, tarFile, tarFolder, tarGzOf, tarPax } from "../support/content/tar.ts";

const RUNS = 400;
const GOOD = tarGzOf(
  tarFolder("skills/"),
  tarPax({ path: `skills/${"ä".repeat(60)}.md` }),
  tarFile("skills/long.md", "how to"),
  tarEntry({ name: "run" }, "#!/bin/sh"),
);
const TAR = gunzipSync(GOOD);

type Change = (bytes: Uint8Array, at: number, value: number) => Uint8Array;
/** @param at from 0 to 1: how far into the bytes */
const CHANGES: Record<string, Change> = {
  set: (bytes, at, value) =>
    bytes.length === 0 ? bytes : bytes.with(Math.floor(at * (bytes.length - 1)), value),
  flip: (bytes, at, value) => {
    const index = Math.floor(at * (bytes.length - 1));
    return bytes.length === 0 ? bytes : bytes.with(index, (bytes[index] ?? 0) ^ (1 << (value % 8)));
  },
  insert: (bytes, at, value) => {
    const from = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, from), Uint8Array.of(value), bytes.subarray(from)]);
  },
  cut: (bytes, at) => bytes.slice(0, Math.floor(at * bytes.length)),
  remove: (bytes, at, value) => {
    const from = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + value)]);
  },
  repeat: (bytes, at, value) => {
    const from = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, from + 1 + value), bytes.subarray(from)]);
  },
};
const changes = fc.array(
  fc.tuple(
    fc.constantFrom(...Object.values(CHANGES)),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.oneof(fc.constantFrom(0, 0x20, 0x2e, 0x2f, 0x37, 0x80, 0xff), fc.nat(255)),
  ),
  { minLength: 1, maxLength: 4 },
);

interface Seen {
  /** of the refusal; undefined if the archive is accepted */
  reason?: string;
  /** paths, and the bytes of files */
  content: unknown[];
}

async function look(archive: Uint8Array): Promise<Seen> {
  const content: unknown[] = [];
  try {
    const { entries, expandedBytes } = await inspectArchive(chunksOf(archive), {
      onEntry: (path) => void content.push(path),
      onFile: { fileBytesMax: 1_000, look: (path, bytes) => void content.push([path, Buffer.from(bytes)]) },
    });
    expect([entries >= 0, expandedBytes <= 2 * TAR.length + 4_096]).toEqual([true, true]);
    return { content };
  } catch (error) {
    if (error instanceof DomainError && error.kind === "unverified") return { reason: error.reason, content };
    throw error;
  }
}

const ORIGINAL = await look(GOOD);

test("the unmodified archive is accepted", () => {
  expect(ORIGINAL.reason).toBeUndefined();
  expect(ORIGINAL.content).toHaveLength(5);
});

const changedBy = (original: Uint8Array) =>
  changes.map((made) =>
    made.reduce<Uint8Array>((bytes, [change, at, value]) => change(bytes, at, value), original),
  );

test("modified compressed bytes are refused by a rule of archives or leave the content unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(changedBy(GOOD), async (changed) => {
      const { reason, content } = await look(changed);
      if (reason === undefined) expect(content).toEqual(ORIGINAL.content);
      else expect(reason).toStartWith("archive.");
    }),
    { numRuns: RUNS },
  );
});

test("modified unpacked bytes are accepted or refused by a rule of archives", async () => {
  await fc.assert(
    fc.asyncProperty(changedBy(TAR), async (changed) => {
      const { reason = "archive." } = await look(gzipSync(changed, { level: 1 }));
      expect(reason).toStartWith("archive.");
    }),
    { numRuns: RUNS },
  );
});
