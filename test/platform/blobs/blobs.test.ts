// Artifacts on a real file system: what is stored is complete, a failure leaves nothing, and files of a killed process are swept.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Blobs, openBlobs, parseDigest } from "../../../src/platform/blobs/blobs.ts";
import { DomainError } from "../../../src/platform/errors.ts";

const LIMIT = 1_000_000;
const digestOf = (bytes: Uint8Array) => parseDigest(createHash("sha256").update(bytes).digest("hex"));
const HELLO = Buffer.from("hello, artifact");
const HELLO_DIGEST = digestOf(HELLO);

async function* pieces(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof DomainError) return error;
  throw new Error(`expected a DomainError, got ${String(error)}`);
}

let scratch: string;
let directory: string;
let blobs: Blobs;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "blobs-"));
  directory = join(scratch, "artifacts");
  blobs = await openBlobs(directory);
});
afterEach(() => rm(scratch, { recursive: true, force: true }));

const filesUnder = async (folder: string) =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

describe("a digest", () => {
  test.each([
    ["upper case", HELLO_DIGEST.toUpperCase()],
    ["63 digits", HELLO_DIGEST.slice(1)],
    ["65 digits", `${HELLO_DIGEST}0`],
    ["a way out of the folder", `../../${HELLO_DIGEST.slice(6)}`],
    ["a line end", `${HELLO_DIGEST}\n`],
    ["nothing", ""],
  ])("refuses a digest with %s before a path is created", (_what, text) => {
    expect(() => parseDigest(text)).toThrow(
      expect.objectContaining({ kind: "invalid", reason: "artifact.digest_invalid" }),
    );
  });
});

describe("adopting a finished file", () => {
  const finished = async (bytes: Uint8Array) => {
    const file = join(scratch, "finished");
    await writeFile(file, bytes);
    return file;
  };

  test("moves it under its digest", async () => {
    await blobs.adopt(await finished(HELLO), HELLO_DIGEST);
    expect(await blobs.verify(HELLO_DIGEST)).toBe("intact");
    expect(await filesUnder(scratch)).toEqual([HELLO_DIGEST]);
  });

  test("keeps a file that contains the same bytes", async () => {
    await blobs.put(pieces(HELLO), { maxBytes: LIMIT });
    await blobs.adopt(await finished(HELLO), HELLO_DIGEST);
    expect((await filesUnder(scratch)).sort()).toEqual([HELLO_DIGEST, "finished"]);
  });
});

describe("storing", () => {
  test("first runs the check on the whole file, and keeps nothing if the check refuses", async () => {
    const seen: Uint8Array[] = [];
    const check = async (bytes: AsyncIterable<Uint8Array>) =>
      void seen.push(...(await Array.fromAsync(bytes)));
    await blobs.put(pieces(HELLO.subarray(0, 5), HELLO.subarray(5)), { maxBytes: LIMIT, check });
    expect(Buffer.concat(seen)).toEqual(HELLO);
    const refused = new DomainError("invalid", "test.refused", "no");
    const attempt = blobs.put(pieces(Buffer.from("other")), {
      maxBytes: LIMIT,
      check: () => Promise.reject(refused),
    });
    expect(await refusalOf(attempt)).toBe(refused);
    expect(await filesUnder(directory)).toEqual([HELLO_DIGEST]);
  });

  test("a stored stream is found under its digest with the same bytes", async () => {
    const stored = await blobs.put(pieces(HELLO.subarray(0, 4), HELLO.subarray(4)), { maxBytes: LIMIT });

    expect(stored).toEqual({ digest: HELLO_DIGEST, sizeBytes: HELLO.byteLength, isNew: true });
    expect(blobs.path(HELLO_DIGEST)).toBe(join(directory, "sha256", HELLO_DIGEST.slice(0, 2), HELLO_DIGEST));
    expect(await readFile(blobs.path(HELLO_DIGEST))).toEqual(HELLO);
    expect(await blobs.has(HELLO_DIGEST)).toBe(true);
    expect(await blobs.size(HELLO_DIGEST)).toBe(HELLO.byteLength);
  });

  test("a local file is copied and stays in place", async () => {
    const source = join(scratch, "package.tar.gz");
    await writeFile(source, HELLO);

    const stored = await blobs.put(source, { maxBytes: LIMIT, expectedDigest: HELLO_DIGEST });

    expect(stored.digest).toBe(HELLO_DIGEST);
    expect(await readFile(source)).toEqual(HELLO);
  });

  test("an empty file has a digest like any other", async () => {
    const stored = await blobs.put(pieces(), { maxBytes: LIMIT });
    expect(await blobs.size(stored.digest)).toBe(0);
  });

  test("folders and files are readable by the owner only", async () => {
    await blobs.put(pieces(HELLO), { maxBytes: LIMIT });
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    const shard = join(directory, "sha256", HELLO_DIGEST.slice(0, 2));
    expect(await Promise.all([directory, join(directory, "sha256"), shard].map(modeOf))).toEqual([
      0o700, 0o700, 0o700,
    ]);
    expect(await modeOf(blobs.path(HELLO_DIGEST))).toBe(0o600);
  });

  test("bytes that are already stored are not written again", async () => {
    await blobs.put(pieces(HELLO), { maxBytes: LIMIT });
    await utimes(blobs.path(HELLO_DIGEST), 1, 1);
    const before = await stat(blobs.path(HELLO_DIGEST));

    const again = await blobs.put(pieces(HELLO), { maxBytes: LIMIT });

    const after = await stat(blobs.path(HELLO_DIGEST));
    expect(again.isNew).toBe(false);
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
    expect(await filesUnder(directory)).toEqual([HELLO_DIGEST]);
  });

  test("eight writers of the same bytes leave one file", async () => {
    await Promise.all(Array.from({ length: 8 }, () => blobs.put(pieces(HELLO), { maxBytes: LIMIT })));
    expect(await filesUnder(directory)).toEqual([HELLO_DIGEST]);
    expect(await blobs.verify(HELLO_DIGEST)).toBe("intact");
  });

  test("progress counts up to the size", async () => {
    const seen: number[] = [];
    await blobs.put(pieces(Buffer.alloc(10), Buffer.alloc(5)), {
      maxBytes: LIMIT,
      onProgress: (bytesDone) => seen.push(bytesDone),
    });
    expect(seen).toEqual([10, 15]);
  });

  test.each([99, 100])("%d bytes fit into a limit of 100", async (length) => {
    const stored = await blobs.put(pieces(Buffer.alloc(length)), { maxBytes: 100 });
    expect(stored.sizeBytes).toBe(length);
  });
});

describe("storing leaves nothing behind", () => {
  afterEach(async () => expect(await filesUnder(directory)).toEqual([]));

  test("leaves nothing when the stream is one byte over the limit", async () => {
    const refusal = await refusalOf(blobs.put(pieces(Buffer.alloc(101)), { maxBytes: 100 }));
    expect(refusal).toMatchObject({ kind: "invalid", reason: "artifact.too_large" });
    expect(refusal.message).toContain("100 bytes");
  });

  test("leaves nothing when the digest differs; the error names both digests", async () => {
    const expected = digestOf(Buffer.from("something else"));
    const refusal = await refusalOf(blobs.put(pieces(HELLO), { maxBytes: LIMIT, expectedDigest: expected }));
    expect(refusal).toMatchObject({ kind: "unverified", reason: "artifact.digest_mismatch" });
    expect(refusal.message).toContain(expected);
    expect(refusal.message).toContain(HELLO_DIGEST);
  });

  test("leaves nothing when the caller aborts midway", async () => {
    const controller = new AbortController();
    const seen: number[] = [];
    const work = blobs.put(pieces(HELLO, HELLO, HELLO), {
      maxBytes: LIMIT,
      signal: controller.signal,
      onProgress: (bytesDone) => {
        seen.push(bytesDone);
        controller.abort(new Error("Ctrl-C"));
      },
    });
    await expect(work).rejects.toThrow("Ctrl-C");
    expect(seen).toEqual([HELLO.byteLength]);
  });

  test("leaves nothing when the caller aborts after the last byte", async () => {
    const controller = new AbortController();
    async function* source() {
      yield HELLO;
      controller.abort(new Error("Ctrl-C"));
    }
    await expect(blobs.put(source(), { maxBytes: LIMIT, signal: controller.signal })).rejects.toThrow(
      "Ctrl-C",
    );
  });

  test("leaves nothing when the stream fails, and forwards its error", async () => {
    async function* broken() {
      yield HELLO;
      throw new Error("connection reset");
    }
    await expect(blobs.put(broken(), { maxBytes: LIMIT })).rejects.toThrow("connection reset");
  });

  test.each([
    ["is missing", "missing.tar.gz", "ENOENT"],
    ["is a folder", ".", "EISDIR"],
  ])("leaves nothing when the source %s", async (_what, name, code) => {
    const refusal = await refusalOf(blobs.put(join(scratch, name), { maxBytes: LIMIT }));
    expect(refusal).toMatchObject({ kind: "invalid", reason: "artifact.unreadable" });
    expect(refusal.message).toContain(code);
  });

  test("leaves nothing when the disk is full", async () => {
    // `ulimit -f` makes the kernel refuse the write, as a full disk does; without the trap it would kill instead.
    const child = Bun.spawn(
      ["sh", "-c", `trap "" XFSZ; ulimit -f 256; exec "$0" "$@"`, process.execPath, "-e", STORE_FOREVER],
      { env: childEnvironment(), stdout: "pipe", stderr: "pipe" },
    );
    const output = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    expect(output.trim()).toEndWith("unavailable artifact.disk_full");
  });
});

describe("a process that is killed while storing", () => {
  test("leaves one temporary file, which is not listed and which the sweep removes", async () => {
    const child = Bun.spawn([process.execPath, "-e", STORE_FOREVER], {
      env: childEnvironment(),
      stdout: "pipe",
      stderr: "inherit",
    });
    await child.stdout.getReader().read();
    expect(await blobs.sweepTemporary()).toBe(0); // the process that writes it is alive

    child.kill("SIGKILL");
    await child.exited;

    const left = await filesUnder(directory);
    expect(left).toHaveLength(1);
    expect(left[0]).toStartWith("put-");
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
    expect(await blobs.sweepTemporary()).toBe(1);
    expect(await filesUnder(directory)).toEqual([]);
  });

  test("is recognized even if its successor has the same process id", async () => {
    await writeFile(join(directory, `put-${process.pid}-00000000-${crypto.randomUUID()}`), "half");
    expect(await blobs.sweepTemporary()).toBe(1);
  });

  test("is recognized while it is a zombie, and when another program has its id", async () => {
    // The shell is replaced by a program that does not wait for the children it inherits.
    const script = "sleep 0 & echo $!; exec sleep 60";
    const parent = Bun.spawn(["sh", "-c", script], { stdout: "pipe" });
    const { value } = await parent.stdout.getReader().read();
    const ended = Number(Buffer.from(value ?? []).toString());
    const stateOf = async () => (await readFile(`/proc/${ended}/stat`, "utf8")).split(") ")[1]?.[0];
    while ((await stateOf()) !== "Z") await Bun.sleep(1);
    for (const pid of [ended, parent.pid])
      await writeFile(join(directory, `put-${pid}-00000000-${crypto.randomUUID()}`), "half");
    expect(await blobs.sweepTemporary()).toBe(2);
    parent.kill();
  });

  test("is not confused with a store of this process that is still running", async () => {
    let swept: number | undefined;
    async function* source() {
      yield HELLO;
      swept = await blobs.sweepTemporary();
      yield HELLO;
    }
    await blobs.put(source(), { maxBytes: LIMIT });
    expect(swept).toBe(0);
  });

  test("does not make the sweep touch other files", async () => {
    await writeFile(join(directory, "put-notes.txt"), "kept");
    expect(await blobs.sweepTemporary()).toBe(0);
    expect(await filesUnder(directory)).toEqual(["put-notes.txt"]);
  });
});

describe("a stored file", () => {
  test("is reported as intact, damaged or missing", async () => {
    expect(await blobs.verify(HELLO_DIGEST)).toBe("missing");
    await blobs.put(pieces(HELLO), { maxBytes: LIMIT });
    expect(await blobs.verify(HELLO_DIGEST)).toBe("intact");

    await writeFile(blobs.path(HELLO_DIGEST), "hello, Artifact");
    expect(await blobs.verify(HELLO_DIGEST)).toBe("damaged");
  });

  test("is listed once, and nothing else is listed", async () => {
    const bodies = Array.from({ length: 50 }, (_, index) => Buffer.from(`artifact ${index}`));
    for (const body of bodies) await blobs.put(pieces(body), { maxBytes: LIMIT });
    await writeFile(join(directory, "sha256", "stray"), "");
    await mkdir(join(directory, "sha256", "zz"));
    await writeFile(join(directory, "sha256", "zz", HELLO_DIGEST), "in a place that is never read");

    const listed = await Array.fromAsync(blobs.list());
    expect(listed.toSorted()).toEqual(bodies.map(digestOf).toSorted());
  });

  test("is gone after removal, and a second removal reports that", async () => {
    await blobs.put(pieces(HELLO), { maxBytes: LIMIT });
    expect(await blobs.remove(HELLO_DIGEST)).toBe(true);
    expect(await blobs.has(HELLO_DIGEST)).toBe(false);
    expect(await blobs.size(HELLO_DIGEST)).toBeUndefined();
    expect(await blobs.remove(HELLO_DIGEST)).toBe(false);
  });
});

/** A real process that stores an endless stream and reports its first bytes; it prints the refusal. */
const STORE_FOREVER = `
  const { openBlobs } = await import(process.env.BLOBS_MODULE);
  const blobs = await openBlobs(process.env.BLOBS_DIRECTORY);
  async function* endless() { for (;;) { yield new Uint8Array(65536); await Bun.sleep(0); } }
  let isSaid = false;
  const onProgress = () => { if (!isSaid) { isSaid = true; console.log("storing"); } };
  await blobs.put(endless(), { maxBytes: 2 ** 30, onProgress })
    .catch((error) => console.log(error.kind, error.reason));
`;

const childEnvironment = () => ({
  BLOBS_MODULE: join(import.meta.dir, "../../../src/platform/blobs/blobs.ts"),
  BLOBS_DIRECTORY: directory,
});
