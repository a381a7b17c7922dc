// Archives with a few bytes changed, moved, cut or repeated: each is taken or refused as an archive, never in another way.
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

/** @returns the reason of the refusal; undefined where the archive is taken */
async function reasonOf(archive: Uint8Array): Promise<string | undefined> {
  try {
    const { entries, expandedBytes } = await inspectArchive(chunksOf(archive));
    expect([entries >= 0, expandedBytes <= 2 * TAR.length + 4_096]).toEqual([true, true]);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError && error.kind === "unverified") return error.reason;
    throw error;
  }
}

test("the archive that is changed below is taken", async () => {
  expect(await reasonOf(GOOD)).toBeUndefined();
});

test.each<[string, Uint8Array, (bytes: Uint8Array) => Uint8Array]>([
  ["compressed", GOOD, (bytes) => bytes],
  ["unpacked", TAR, (bytes) => gzipSync(bytes, { level: 1 })],
])("changes of the %s bytes are taken or refused by a rule of archives", async (_, original, packed) => {
  await fc.assert(
    fc.asyncProperty(changes, async (made) => {
      const changed = made.reduce<Uint8Array>(
        (bytes, [change, at, value]) => change(bytes, at, value),
        original,
      );
      expect((await reasonOf(packed(changed))) ?? "archive.").toStartWith("archive.");
    }),
    { numRuns: RUNS },
  );
});
