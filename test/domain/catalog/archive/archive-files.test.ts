// Inspecting the files of an archive while it is read: which files are shown, with which bytes, and which entries are skipped.
import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { ARCHIVE_LIMITS, inspectArchive } from "../../../../src/domain/catalog/archive/archive.ts";
import { truncated } from "../../../../src/domain/catalog/archive/bytes.ts";
import { type RefusedEntry, readTar } from "../../../../src/domain/catalog/archive/tar.ts";
import { ByteSource } from "../../../../src/platform/files/byte-source.ts";
import {
  chunksOf,
  paxRecord,
  tarEntry,
  tarFile,
  tarFolder,
  tarGzOf,
  tarOf,
  tarPax,
} from "../../../support/content/tar.ts";

test("files up to the requested size are shown with their bytes; larger files and folders are not", async () => {
  const entries = [
    tarFolder("folder/"),
    tarFile("folder/empty"),
    tarFile("less", "xx"),
    tarFile("at", "xxx"),
  ];
  const bytes = tarGzOf(...entries, tarFile("above", "xxxx"), tarFile("last", "end"));
  const seen: [string, string][] = [];
  const look = (path: string, content: Uint8Array) => void seen.push([path, Buffer.from(content).toString()]);
  for (const size of [512, 100_000]) {
    seen.length = 0;
    await inspectArchive(chunksOf(bytes, size), { onFile: { fileBytesMax: 3, look } });
    expect(seen).toEqual([
      ["folder/empty", ""],
      ["less", "xx"],
      ["at", "xxx"],
      ["last", "end"],
    ]);
  }
});

test("the stream of a refused archive ends, so that nothing stays open", async () => {
  const noise = crypto.getRandomValues(Buffer.alloc(60_000));
  const bytes = tarGzOf(tarFile("/absolute"), ...Array.from({ length: 10 }, () => tarFile("more", noise)));
  let hasEnded = false;
  async function* stream() {
    try {
      yield* chunksOf(bytes, 512);
    } finally {
      hasEnded = true;
    }
  }
  await expect(inspectArchive(stream())).rejects.toMatchObject({ reason: "archive.path_absolute" });
  for (let turn = 0; turn < 20 && !hasEnded; turn += 1) await setImmediate();
  expect(hasEnded).toBe(true);
});

/** @returns the text of each file, read piece by piece, and what was skipped; or the reason of the refusal */
async function readSkipping(tar: Uint8Array, chunkBytes = 700) {
  const skipped: string[] = [];
  const files: string[] = [];
  const onRefused = ({ kind, path, errorOf }: RefusedEntry) =>
    void skipped.push(`${kind} ${Buffer.from(path)} ${errorOf(path).reason}`);
  const source = new ByteSource(chunksOf(tar, chunkBytes), truncated);
  try {
    for await (const entry of readTar(source, ARCHIVE_LIMITS, { onRefused })) {
      let text = "";
      for await (const piece of entry.pieces()) text += Buffer.from(piece).toString("latin1");
      files.push(text);
    }
    return { files, skipped };
  } catch (error) {
    return Object(error).reason;
  }
}

test("links and special entries are skipped on request, and the files between them are complete", async () => {
  const long = "x".repeat(3_000);
  const entries = [
    ...[tarFile("one", "1"), tarEntry({ name: "soft", type: "2", linkName: "one" })],
    ...[tarFile("long", long), tarEntry({ name: "hard", type: "1" }), tarEntry({ name: "pipe", type: "6" })],
    tarEntry({ name: "././@LongLink", type: "K" }, `${"a long target/".repeat(20)}\0`),
    ...[tarPax({ path: "renamed" }), tarEntry({ name: "short", type: "2" }), tarFile("last", "")],
  ];
  expect(await readSkipping(tarOf(...entries))).toEqual({
    files: ["1", long, ""],
    skipped: [
      "symbolic_link soft archive.link",
      "other hard archive.link",
      "other pipe archive.special",
      "symbolic_link renamed archive.link",
    ],
  });
});

test.each([
  ["a link with one byte", [tarEntry({ name: "link", type: "2" }, "x")], "archive.corrupt"],
  [
    "a link with a size in PAX",
    [tarPax({ size: "1" }), tarEntry({ name: "a", type: "2" })],
    "archive.corrupt",
  ],
  ["two names for one link", [tarPax({ path: "a" }), tarPax({ path: "b" })], "archive.metadata"],
])("%s is refused although links are skipped", async (_what, entries, reason) => {
  expect(await readSkipping(tarOf(...entries))).toBe(reason);
});

test.each([1, 511, 512, 513, 699, 700, 701, 1_400])(
  "a file of which only %d bytes are there is truncated",
  async (size) => {
    const tar = tarFile("file", "x".repeat(size + 1)).subarray(0, 512 + size);
    expect(await readSkipping(tar)).toBe("archive.truncated");
  },
);

test("one byte after the end of an archive is found, a PAX header without a key, and a folder of one byte", async () => {
  const after = Buffer.concat([tarOf(tarFile("a")), Buffer.from("x")]);
  const pax = tarEntry({ name: "pax", type: "x" }, paxRecord("", "value"));
  for (const [tar, reason] of [
    [after, "archive.trailing_data"],
    [tarOf(pax, tarFile("a")), "archive.corrupt"],
    [tarOf(tarEntry({ name: "folder/", type: "5" }, "x")), "archive.corrupt"],
  ] as const)
    await expect(inspectArchive(chunksOf(gzipSync(tar)))).rejects.toMatchObject({ reason });
});
