// Every changed byte of a bundle is detected: the signature covers the manifest, the manifest covers the archives, and the reader
// checks the rest.
import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { checkBundle } from "../../../../src/domain/catalog/bundles/bundle-check.ts";
import {
  BUNDLE_LIMITS,
  type BundleFile,
  MANIFEST_NAME,
} from "../../../../src/domain/catalog/bundles/bundle-model.ts";
import { readBundle } from "../../../../src/domain/catalog/bundles/bundle-read.ts";
import { bundleBytes, manifestOf } from "../../../../src/domain/catalog/bundles/bundle-write.ts";
import { fileSigner, readTrustedKeys } from "../../../../src/platform/crypto/file-signatures.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { chunksOf, tarFile, tarGzOf, tarHeader } from "../../../support/content/tar.ts";

const signer = fileSigner(
  new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
  "test key",
);
const trusted = { name: "trusted.pub", keys: readTrustedKeys(signer.publicKey, "trusted.pub") };
const ARCHIVES = [tarGzOf(tarFile("a", "one")), tarGzOf(tarFile("b", "two"))].map((bytes) => ({
  bytes,
  sha256: sha256Hex(bytes),
  sizeBytes: bytes.length,
}));

async function written(archives = ARCHIVES): Promise<Buffer> {
  const manifest = manifestOf({ packages: [], archives, signer, exportedAtMs: 0 });
  const read = (sha256: string) =>
    chunksOf(archives.find((archive) => archive.sha256 === sha256)?.bytes ?? new Uint8Array());
  return Buffer.concat(await Array.fromAsync(bundleBytes(manifest, archives, { blobs: { read }, signer })));
}

const inMemory = (bytes: Uint8Array): BundleFile => ({
  name: "memory.qmc",
  sizeBytes: bytes.length,
  read: ({ offset, length } = { offset: 0, length: bytes.length }) =>
    chunksOf(bytes.subarray(offset, offset + length)),
});

/** @returns `read`, or the kind and reason of the refusal */
const outcomeOf = (bytes: Uint8Array): Promise<string> =>
  readBundle(inMemory(bytes), { trusted }).then(
    () => "read",
    (error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      return `${error.kind} ${error.reason}`;
    },
  );

describe("a bundle", () => {
  test("is read as it was written", async () => {
    expect(await outcomeOf(await written())).toBe("read");
  });

  test.each([1, 511, 512, 513, 65_535, 65_536, 65_537])("reads an archive of %i bytes", async (size) => {
    const bytes = Buffer.alloc(size, "x");
    const archive = { bytes, sha256: sha256Hex(bytes), sizeBytes: size };
    const { archives } = await readBundle(inMemory(await written([archive])), { trusted });
    expect(archives.get(archive.sha256)).toMatchObject({ length: size });
  });

  test("is refused if a bit of any one byte is flipped", async () => {
    const bundle = await written();
    const accepted: number[] = [];
    for (const [at, byte] of bundle.entries()) {
      bundle[at] = byte ^ (1 << (at % 8));
      if (!/^unverified bundle\./.test(await outcomeOf(bundle))) accepted.push(at);
      bundle[at] = byte;
    }
    expect(accepted).toEqual([]);
  });

  test("is refused if a byte is missing at its end or follows it", async () => {
    const bundle = await written();
    expect(await outcomeOf(bundle.subarray(0, -1))).toBe("unverified bundle.truncated");
    expect(await outcomeOf(Buffer.concat([bundle, Buffer.alloc(1)]))).toBe("unverified bundle.unexpected");
    expect(await outcomeOf(Buffer.concat([bundle, Buffer.alloc(512)]))).toBe("unverified bundle.unexpected");
  });

  test.each([
    ["another mode", { mode: "0000600" }],
    ["a link target", { linkName: "x" }],
  ])("is refused when a header with a right checksum has %s", async (_what, change) => {
    const bundle = await written();
    const length = Number.parseInt(bundle.toString("latin1", 124, 135), 8);
    bundle.set(tarHeader({ name: MANIFEST_NAME, ...change }, length));
    expect(await outcomeOf(bundle)).toBe("unverified bundle.tampered");
  });
});

test.each([
  ["is whole", (bytes: Buffer) => bytes],
  ["ends early", (bytes: Buffer) => bytes.subarray(0, -1)],
])("the file of a bundle that %s is closed after reading", async (_what, change) => {
  const file = inMemory(change(await written()));
  let isClosed = false;
  async function* watched() {
    try {
      for (;;) yield* file.read();
    } finally {
      isClosed = true;
    }
  }
  await readBundle({ ...file, read: watched }, { trusted }).catch(() => {});
  expect(isClosed).toBe(true);
});

test("reading stops between the pieces of an archive when it is aborted", async () => {
  const bytes = Buffer.alloc(300_000, 7);
  const stopping = new AbortController();
  let pieces = 0;
  const onProgress = () => {
    pieces += 1;
    stopping.abort(new Error("stopped"));
  };
  const file = inMemory(await written([{ bytes, sha256: sha256Hex(bytes), sizeBytes: bytes.length }]));
  const reading = readBundle(file, { trusted, signal: stopping.signal, onProgress });
  await expect(reading).rejects.toThrow("stopped");
  expect(pieces).toBe(1);
});

test("a disk failure during the inspection of archives is not a problem of the bundle", async () => {
  const { read, ...file } = inMemory(await written());
  const failing = (range?: { offset: number; length: number }) => {
    if (range) throw new Error("disk failed");
    return read();
  };
  const options = { trusted, blobs: { has: async () => false }, findArtifact: () => undefined };
  const checking = checkBundle({ ...file, read: failing }, options);
  await expect(checking).rejects.toThrow("disk failed");
});

describe("an export", () => {
  const tooLarge = (count: number, version: string) => {
    const archives = Array.from({ length: count }, () => ({ sha256: "a".repeat(64), sizeBytes: 1 }));
    const managed = {
      id: "a",
      version,
      source_ref: "a.tar.gz",
      sha256: "a".repeat(64),
      settings: {},
      adapters: {},
    };
    try {
      return manifestOf({ packages: [managed], archives, signer, exportedAtMs: 0 }).length;
    } catch (error) {
      if (error instanceof DomainError) return error.reason;
      throw error;
    }
  };
  const { archivesMax, manifestBytesMax } = BUNDLE_LIMITS;

  test.each([
    [-1, false],
    [0, false],
    [1, true],
  ])("is refused because of its archives, %d from the limit", (step, isRefused) => {
    expect(tooLarge(archivesMax + step, "1") === "bundle.too_large").toBe(isRefused);
  });

  test.each([
    [-1, false],
    [0, false],
    [1, true],
  ])("is refused because of its list, %d bytes from the limit", (step, isRefused) => {
    const rest = manifestBytesMax - Number(tooLarge(1, ""));
    expect(tooLarge(1, "1".repeat(rest + step)) === "bundle.too_large").toBe(isRefused);
  });
});
