// The rules for a published archive, which workstation clients enforce too, each at its limit. The archives are built here byte by
// byte, because archivers do not create all of them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  ARCHIVE_LIMITS,
  type InspectOptions,
  inspectArchive,
} from "../../../../src/domain/catalog/archive/archive.ts";
import { NAME_BYTES_MAX, NEW_PATH_BYTES_MAX } from "../../../../src/domain/catalog/archive/import-rules.ts";
import { QUOTED_LENGTH_MAX } from "../../../../src/domain/catalog/archive/limits.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import {
  chunksOf,
  GNU_MAGIC,
  gnuLongName,
  gzipBomb,
  paxRecord,
  TAR_END,
  tarEntry,
  tarFile,
  tarFolder,
  tarGzOf,
  tarHeader,
  tarOf,
  tarPax,
} from "../../../support/content/tar.ts";

const MIB = 1024 * 1024;
const BOMB_CHILD = join(import.meta.dir, "../../../support/content/bomb-child.ts");

const inspect = (bytes: Uint8Array, options?: InspectOptions) => inspectArchive(chunksOf(bytes), options);

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.catch((error: unknown) => error);
  if (outcome instanceof DomainError && outcome.kind === "unverified") return outcome;
  throw new Error(`expected a refusal, got ${Bun.inspect(outcome)}`);
}

const refusalOfEntries = (...entries: Uint8Array[]) => refusalOf(inspect(tarGzOf(...entries)));

describe("an archive is accepted", () => {
  test("counts the files, folders and bytes of an accepted archive", async () => {
    const tar = tarOf(tarFolder("skills/"), tarFile("skills/a.md", "hello"), tarFile("plugin.json"));
    expect(await inspect(gzipSync(tar))).toEqual({ entries: 3, expandedBytes: tar.byteLength });
  });

  test("reports paths in the order of the archive, and folders without a trailing slash", async () => {
    const paths: string[] = [];
    const tar = tarGzOf(tarFolder("skills/"), tarFile("skills/ä.md"), tarFile("a"));
    await inspect(tar, { onEntry: (path) => void paths.push(path) });
    expect(paths).toEqual(["skills", "skills/ä.md", "a"]);
  });

  test("accepts an archive in pieces of any size", async () => {
    const bytes = tarGzOf(tarPax({ path: "a/b" }), tarFile("x", "z".repeat(1_300)), tarFile("c"));
    for (const size of [1, 7, 511, 512, 513]) {
      expect((await inspectArchive(chunksOf(bytes, size))).entries).toBe(2);
    }
  });

  test("accepts an archive without any entry", async () => {
    expect(await inspect(tarGzOf())).toEqual({ entries: 0, expandedBytes: 1_024 });
  });

  test("accepts a last record that is filled with zeros, as tar writes it", async () => {
    const padded = Buffer.concat([tarOf(tarFile("a")), new Uint8Array(200_000)]);
    expect((await inspect(gzipSync(padded))).entries).toBe(1);
  });

  test.each([
    ["a folder before its files", [tarFolder("a/"), tarFile("a/b")]],
    ["a folder after its files", [tarFile("a/b"), tarFolder("a")]],
    ["a zero-width joiner in a name", [tarFile("\u{1f469}\u200d\u{1f4bb}.md")]],
    ["the same name in two folders", [tarFile("a/x"), tarFile("b/x"), tarFile("ab/x")]],
    [
      "ordinary modes of files and folders",
      [tarEntry({ name: "a", mode: "0000755" }), tarEntry({ name: "b", mode: "" })],
    ],
    ["a mode that also contains the type of file", [tarEntry({ name: "a", mode: "0100644" })]],
    ["three dots", [tarFile("...")]],
    ["a type flag of NUL, as old archivers write it", [tarEntry({ name: "a", type: "\0" }, "body")]],
    [
      "a small size in binary",
      [tarEntry({ name: "a", size: Uint8Array.of(0x80, ...Array(10).fill(0), 1) }, "x")],
    ],
    ["a global PAX header with a remark", [tarPax({ comment: "0123abcd" }, "g"), tarFile("a")]],
    ["a PAX header that sets a time only", [tarPax({ mtime: "1.5" }), tarFile("a")]],
    [
      "a GNU long name",
      [gnuLongName(`${"long/".repeat(20)}name`), tarEntry({ name: "x", magic: GNU_MAGIC })],
    ],
  ])("accepts an archive with %s", async (_what, entries) => {
    await expect(inspect(tarGzOf(...entries))).resolves.toHaveProperty("expandedBytes");
  });

  test("takes the path in UTF-8 and the size from a PAX header", async () => {
    const entry = Buffer.concat([tarHeader({ name: "x", size: 0 }), Buffer.alloc(512, "b")]);
    const bytes = tarGzOf(tarPax({ path: "Bücher/日本語.md", size: "512" }), entry, tarFile("last"));
    const requiredPaths = [{ path: "Bücher/日本語.md", kind: "file", pointer: "" } as const];
    expect((await inspect(bytes, { requiredPaths })).entries).toBe(2);
  });

  test("puts the prefix of a header before the name", async () => {
    const requiredPaths = [{ path: "deep/folder/file", kind: "file", pointer: "" } as const];
    await inspect(tarGzOf(tarEntry({ name: "file", prefix: "deep/folder" })), { requiredPaths });
  });
});

describe("an archive made by the tar of this machine", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "archive-"));
    await mkdir(join(folder, "skills", "d".repeat(90)), { recursive: true });
    await writeFile(join(folder, "skills", "d".repeat(90), "Straße.md"), "# hello");
    await writeFile(join(folder, "plugin.json"), "{}");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const pack = async (format: string, what: string) =>
    new Uint8Array(
      await new Response(
        Bun.spawn(["sh", "-c", `tar c --format=${format} ${what} | gzip`], { cwd: folder }).stdout,
      ).arrayBuffer(),
    );

  test.each(["gnu", "pax", "ustar"])("accepts the format %s as tar czf … * packs it", async (format) => {
    const requiredPaths = [
      { path: `skills/${"d".repeat(90)}/Straße.md`, kind: "file", pointer: "" } as const,
    ];
    expect((await inspect(await pack(format, "*"), { requiredPaths })).entries).toBe(4);
  });

  test("refuses the folder itself because of its dots, and the error says how to pack", async () => {
    const refusal = await refusalOf(inspect(await pack("gnu", ".")));
    expect(refusal.reason).toBe("archive.path_component");
    expect(refusal.message).toContain('"./"');
    expect(refusal.hint).toContain("tar czf package.tar.gz *");
  });
});

describe("an entry is refused", () => {
  test.each([
    ["a symbolic link", { type: "2", linkName: "/etc/passwd" }, "link"],
    ["a hard link", { type: "1", linkName: "other" }, "link"],
    ["a link with a long target", { type: "K", magic: GNU_MAGIC }, "link"],
    ["a character device", { type: "3" }, "special"],
    ["a block device", { type: "4" }, "special"],
    ["a named pipe", { type: "6" }, "special"],
    ["an entry of the unknown type", { type: "7" }, "special"],
    ["a sparse file", { type: "S", magic: GNU_MAGIC }, "special"],
    ["an entry of the unknown type", { type: "V", magic: GNU_MAGIC }, "special"],
    ["an entry of the unknown type", { type: "Q" }, "special"],
  ])("refuses an entry that is %s", async (kind, header, what) => {
    const refusal = await refusalOfEntries(tarFile("fine"), tarEntry({ name: "odd-one", ...header }));
    expect(refusal.reason).toBe(`archive.${what}`);
    expect(refusal.message).toContain(`odd-one" is ${kind}`);
    expect(refusal.hint?.includes("tar -h")).toBe(what === "link");
  });

  test.each([
    [QUOTED_LENGTH_MAX - 1, ""],
    [QUOTED_LENGTH_MAX, ""],
    [QUOTED_LENGTH_MAX + 1, "…"],
  ])("quotes at most the first characters of a refused name, here of %d", async (length, more) => {
    const name = `/${"x".repeat(length - 1)}`;
    const { message } = await refusalOfEntries(tarFile(name));
    expect(message).toContain(`"${name.slice(0, QUOTED_LENGTH_MAX)}${more}"`);
  });

  test("refuses a sparse entry in the PAX format", async () => {
    const refusal = await refusalOfEntries(tarPax({ "GNU.sparse.major": "1" }), tarFile("a"));
    expect(refusal.reason).toBe("archive.special");
  });

  test.each([
    ["goes up", "../evil", "path_component"],
    ["goes up in the middle", "a/../../evil", "path_component"],
    ["ends with two dots", "a/..", "path_component"],
    ["begins with a dot", "./a", "path_component"],
    ["has a dot inside", "a/./b", "path_component"],
    ["has an empty component", "a//b", "path_component"],
    ["is empty", "", "path_component"],
    ["ends with a slash though it is a file", "a/", "path_component"],
    ["is absolute", "/etc/passwd", "path_absolute"],
    ["has a backslash", "..\\evil", "path_character"],
    ["has a colon", "C:evil", "path_character"],
    ["is not UTF-8", Uint8Array.of(0x61, 0xff), "path_not_utf8"],
    ["is an overlong UTF-8 slash", Uint8Array.of(0x61, 0xc0, 0xaf), "path_not_utf8"],
  ])("refuses an entry whose path %s", async (_what, name, what) => {
    expect((await refusalOfEntries(tarFile("fine"), tarFile(name))).reason).toBe(`archive.${what}`);
  });

  test.each([
    ["./a", 'the component "."', true],
    ["a/./b", 'the component "."', true],
    ["../a", 'the component ".."', false],
    ["a//b", "an empty component", false],
  ])(
    "refuses an entry whose path is %s, with %s, and mentions tar only if it creates such paths",
    async (name, component, isFromDot) => {
      const { hint = "", message } = await refusalOfEntries(tarFile(name));
      expect(message).toContain(`has ${component}, which`);
      expect(hint.includes('begins every path with "./"')).toBe(isFromDot);
      expect(hint).toContain("tar czf package.tar.gz *");
    },
  );

  test.each([
    ["in a PAX path", [tarPax({ path: "a\0b" }), tarFile("a")]],
    ["in a GNU long name", [gnuLongName("a\0b"), tarFile("a")]],
  ])("refuses an entry if a NUL hides %s", async (_what, entries) => {
    expect((await refusalOfEntries(...entries)).reason).toBe("archive.path_character");
  });

  test("refuses an entry if only its PAX path is invalid", async () => {
    const refusal = await refusalOfEntries(tarPax({ path: "../evil" }), tarFile("innocent"));
    expect(refusal.message).toContain("../evil");
  });

  test("refuses an empty PAX path, which readers interpret differently", async () => {
    expect((await refusalOfEntries(tarPax({ path: "" }), tarFile("a"))).reason).toBe(
      "archive.path_component",
    );
  });

  test.each([
    ["a file twice", [tarFile("a"), tarFile("a")], "twice"],
    ["a folder twice, once without its slash", [tarFolder("a/"), tarFolder("a")], "twice"],
    ["a file and a folder", [tarFile("a"), tarFolder("a/")], "twice"],
    ["a folder and a file", [tarFolder("a/"), tarFile("a")], "twice"],
    ["a file, then something inside it", [tarFile("a"), tarFile("a/b/c")], "are inside it"],
    ["something inside it, then a file", [tarFile("a/b/c"), tarFile("a/b")], "are inside it"],
    ["a file, then the same by its PAX path", [tarFile("a"), tarPax({ path: "a" }), tarFile("b")], "twice"],
  ])("refuses an entry whose path is %s", async (_what, entries, text) => {
    const refusal = await refusalOfEntries(...entries);
    expect(refusal.reason).toBe("archive.duplicate_path");
    expect(refusal.message).toContain(text);
  });

  test("shortens a refused name and escapes it for a terminal", async () => {
    const { message } = await refusalOfEntries(
      tarPax({ path: `/\u001b[31m\u202e${"x".repeat(3_000)}` }),
      tarFile("a"),
    );
    expect(message).toContain("\\u001b[31m\\u{202e}xxx");
    expect(message.length).toBeLessThan(160);
  });
});

describe("a new archive is refused", () => {
  test.each([
    ["in case", "Readme.md", "README.md"],
    [
      "in case, in a script other than Latin",
      "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2",
      "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3",
    ],
    ["in the case of a letter that becomes two", "stra\u00dfe", "STRASSE"],
    ["in the case of a capital that becomes two", "stra\u1e9ee", "strasse"],
    ["in a letter with its own capital", "\u212aelvin", "kelvin"],
    ["in normalization", "caf\u00e9", "cafe\u0301"],
    ["in normalization and case", "CAF\u00c9", "cafe\u0301"],
    ["in the order of combining marks", "a\u0323\u0301", "a\u0301\u0323"],
    ["in a character that is not shown", "a\u200db", "ab"],
    ["in a byte order mark", "\ufeffa", "a"],
    ["in a dot at the end", "a.", "a"],
    ["in a space at the end", "a ", "a"],
    ["in the case of a folder", "Docs/a", "docs/b"],
    ["in the case of a folder further up", "x/Docs/a/b/c", "x/docs/d"],
    ["in a dot at the end of a folder", "docs./a", "docs/b"],
  ])("refuses two names that differ only %s", async (_what, one, other) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      const { reason, message, hint } = await refusalOfEntries(tarFile(first), tarFile(second));
      expect(reason).toBe("archive.path_collision");
      expect(message).toContain("the same file on some file systems");
      expect(hint).toContain("rename one");
    }
  });

  test("refuses a folder and a file that differ only in case", async () => {
    expect((await refusalOfEntries(tarFolder("Docs/"), tarFile("docs"))).reason).toBe(
      "archive.path_collision",
    );
    expect((await refusalOfEntries(tarFile("docs"), tarFile("Docs/a"))).reason).toBe(
      "archive.path_collision",
    );
  });

  test.each([
    ...[0x01, 0x09, 0x0a, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9b, 0x9f],
    ...[0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069],
  ])("refuses a name with the character %d", async (code) => {
    const name = `a${String.fromCodePoint(code)}b`;
    for (const entry of [tarFile(name), tarFile(`${name}/c`), tarFolder(`c/${name}/`)]) {
      const { reason, message } = await refusalOfEntries(entry);
      expect(reason).toBe("archive.path_misleading");
      expect(message).not.toContain(name);
    }
  });

  test.each([
    [0x20, 0xa0],
    [0x200d, 0x200d],
    [0x202f, 0x202f],
    [0x206a, 0x206a],
  ])("accepts the neighbors of refused characters (%d, %d)", async (one, other) => {
    await inspect(tarGzOf(tarFile(`a${String.fromCodePoint(one, other)}b`)));
  });

  test.each([
    ["04755", "setuid"],
    ["02755", "setgid"],
    ["01755", "sticky"],
    ["07777", "setuid, setgid, sticky"],
    ["0104755", "setuid"],
  ])("refuses an entry with a mode that is %s", async (mode, name) => {
    for (const type of ["0", "5"]) {
      const { reason, message } = await refusalOfEntries(
        tarFile("fine"),
        tarEntry({ name: "odd", type, mode }),
      );
      expect(reason).toBe("archive.mode");
      expect(message).toContain(`"odd" has the mode bit ${name}`);
    }
  });

  test("refuses a mode that is not an octal number", async () => {
    const { reason, message } = await refusalOfEntries(tarEntry({ name: "odd", mode: "rwxr-x" }));
    expect(reason).toBe("archive.mode");
    expect(message).toContain("not an octal number");
  });

  test("reads a stored archive completely and reports every rule that it breaks", async () => {
    const told: string[] = [];
    const entries = [
      tarEntry({ name: "A", mode: "04755" }),
      tarFile("a"),
      tarFile("\u202eb"),
      tarEntry({ name: "c", mode: "x" }),
      ...[tarPax({ path: `${"d".repeat(256)}/${"e/".repeat(20)}${"f".repeat(500)}` }), tarFile("d")],
    ];
    const options = { onOutdated: ({ reason }: DomainError) => void told.push(reason) };
    expect((await inspect(tarGzOf(...entries), options)).entries).toBe(5);
    expect(told).toEqual([
      "archive.mode",
      "archive.path_collision",
      "archive.path_misleading",
      "archive.mode",
      "archive.name_too_long",
      "archive.path_too_long",
    ]);
    expect((await refusalOf(inspect(tarGzOf(tarFile("../a")), options))).reason).toBe(
      "archive.path_component",
    );
  });
});

describe("a damaged or ambiguous archive is refused", () => {
  const good = tarOf(tarFile("a", "x".repeat(3_000)), tarFile("b"));
  const flipped = (bytes: Uint8Array, index: number) =>
    bytes.with(index < 0 ? bytes.length + index : index, (bytes.at(index) ?? 0) ^ 1);
  const noise = createHash("shake256", { outputLength: 5_000 }).update("noise").digest();
  const noisy = gzipSync(tarOf(tarFile("a", noise)));

  test.each([
    ["not gzip", Buffer.from("PK\x03\x04 this is a zip file"), "not_gzip"],
    ["a tar without gzip", good, "not_gzip"],
    ["nothing at all", new Uint8Array(), "truncated"],
    ["gzip of something else", gzipSync("x".repeat(2_000)), "not_tar"],
    ["gzip data too short for a header", gzipSync("hello"), "truncated"],
    ["gzip of nothing", gzipSync(""), "truncated"],
    ["a gzip checksum that is wrong", flipped(gzipSync(good), -6), "corrupt"],
    ["a gzip length that is wrong", flipped(gzipSync(good), -2), "corrupt"],
    ["gzip cut in its trailer", gzipSync(good).subarray(0, -3), "truncated"],
    ["gzip cut in the middle", noisy.subarray(0, 3_000), "truncated"],
    ["gzip cut in its header", gzipSync(good).subarray(0, 5), "truncated"],
    ["text after the gzip data", Buffer.concat([gzipSync(good), Buffer.from("trailing")]), "corrupt"],
    ["zeros after the gzip data", Buffer.concat([gzipSync(good), new Uint8Array(9)]), "trailing_data"],
    ["zeros and more after it", Buffer.concat([gzipSync(good), Buffer.from("\0evil")]), "trailing_data"],
    [
      "a copy of the trailer after it",
      Buffer.concat([gzipSync(good), Buffer.alloc(9), gzipSync(good).subarray(-4)]),
      "trailing_data",
    ],
    [
      "two gzip members",
      Buffer.concat([gzipSync(good.subarray(0, 512)), gzipSync(good.subarray(512))]),
      "trailing_data",
    ],
    ["two whole archives", Buffer.concat([gzipSync(good), gzipSync(good)]), "trailing_data"],
    ["an empty gzip member at the end", Buffer.concat([gzipSync(good), gzipSync("")]), "trailing_data"],
    ["a tar cut in a body", gzipSync(good.subarray(0, 1_000)), "truncated"],
    ["a tar cut in a header", gzipSync(good.subarray(0, 512 * 7 + 100)), "truncated"],
    ["a tar without its end", gzipSync(good.subarray(0, -1_024)), "truncated"],
    ["a tar with half of its end", gzipSync(good.subarray(0, -512)), "truncated"],
    ["a second tar after the end", gzipSync(Buffer.concat([good, good])), "trailing_data"],
    [
      "a second tar after one zero block",
      gzipSync(Buffer.concat([good.subarray(0, -512), good])),
      "trailing_data",
    ],
    [
      "one byte after the end",
      gzipSync(Buffer.concat([good, new Uint8Array(99_999), Uint8Array.of(1)])),
      "trailing_data",
    ],
  ])("%s", async (_what, bytes, what) => {
    for (const size of [65_536, 13]) {
      expect((await refusalOf(inspectArchive(chunksOf(bytes, size)))).reason).toBe(`archive.${what}`);
    }
  });

  test.each([
    ["a wrong header checksum", [tarEntry({ name: "b", checksum: 1 })], "not_tar"],
    ["an unknown format", [tarEntry({ name: "b", magic: "\0\0\0\0\0\0\0\0" })], "not_tar"],
    ["a size that is not a number", [tarEntry({ name: "b", size: "12zz" })], "corrupt"],
    ["no size", [tarEntry({ name: "b", size: "" })], "corrupt"],
    ["a negative size", [tarEntry({ name: "b", size: new Uint8Array(12).fill(0xff) })], "file_too_large"],
    ["a folder with a size", [tarEntry({ name: "b", type: "5", size: 512 }), tarFile("c")], "corrupt"],
    [
      "a PAX record that is longer than it",
      [tarEntry({ name: "m", type: "x" }, "99 path=evil\n")],
      "corrupt",
    ],
    ["a PAX record that is shorter", [tarEntry({ name: "m", type: "x" }, "6 path=evil\n")], "corrupt"],
    ["a PAX record of length zero", [tarEntry({ name: "m", type: "x" }, "0 path=evil\n")], "corrupt"],
    ["a PAX record without a length", [tarEntry({ name: "m", type: "x" }, "path=evil\n")], "corrupt"],
    ["a PAX record without a key", [tarEntry({ name: "m", type: "x" }, "8 =evil\n")], "corrupt"],
    ["a PAX record without a line end", [tarEntry({ name: "m", type: "x" }, "12 path=evil")], "corrupt"],
    ["a PAX size that is not a number", [tarPax({ size: "1e9" }), tarFile("b")], "corrupt"],
    ["a negative PAX size", [tarPax({ size: "-1" }), tarFile("b")], "corrupt"],
    [
      "two PAX headers for one entry",
      [tarPax({ path: "b" }), tarPax({ path: "c" }), tarFile("d")],
      "metadata",
    ],
    ["a PAX header and a long name", [gnuLongName("b"), tarPax({ path: "c" }), tarFile("d")], "metadata"],
    ["a PAX header before nothing", [tarPax({ path: "b" })], "metadata"],
    ["a global path", [tarPax({ path: "b" }, "g"), tarFile("c")], "metadata"],
    ["a global size", [tarPax({ size: "0" }, "g"), tarFile("c")], "metadata"],
  ])("%s", async (_what, entries, what) => {
    expect((await refusalOfEntries(tarFile("a"), ...entries)).reason).toBe(`archive.${what}`);
  });

  test("passes on an error of the stream itself", async () => {
    async function* broken() {
      yield noisy.subarray(0, 2_000);
      throw new Error("disk error");
    }
    await expect(inspectArchive(broken())).rejects.toThrow("disk error");
  });
});

describe("a limit", () => {
  test("equals the limit of workstation clients", () => {
    expect(ARCHIVE_LIMITS).toEqual({
      compressedBytesMax: 104_857_600,
      entriesMax: 10_000,
      expandedBytesMax: 536_870_912,
      fileBytesMax: 134_217_728,
      pathComponentsMax: 32,
      pathBytesMax: 4_096,
      metadataRecordBytesMax: 65_536,
      metadataTotalBytesMax: 8_388_608,
    });
  });

  const check = async (bytes: Uint8Array, reason: string | undefined, options?: InspectOptions) => {
    if (reason === undefined) await inspect(bytes, options);
    else expect((await refusalOf(inspect(bytes, options))).reason).toBe(`archive.${reason}`);
  };
  const edge = (reason: string): [step: number, reason: string | undefined][] => [
    [-1, undefined],
    [0, undefined],
    [1, reason],
  ];

  test.each(edge("too_large"))("limits the compressed bytes, at %d", async (step, reason) => {
    const bytes = tarGzOf(tarFile("a", "body"));
    await check(bytes, reason, { limits: { compressedBytesMax: bytes.byteLength - step } });
  });

  test.each(edge("expands_too_large"))("limits the expanded bytes, at %d", async (step, reason) => {
    const tar = tarOf(tarFile("a", "body"));
    await check(gzipSync(tar), reason, { limits: { expandedBytesMax: tar.byteLength - step } });
  });

  test.each(edge("file_too_large"))("limits the size of a file, at %d", async (step, reason) => {
    await check(tarGzOf(tarFile("a", "x".repeat(1_000 + step))), reason, { limits: { fileBytesMax: 1_000 } });
  });

  test.each(edge("file_too_large"))("limits the size that PAX gives a file, at %d", async (step, reason) => {
    const body = "x".repeat(1_000 + step);
    const entry = tarEntry({ name: "a", size: 1 }, body);
    const bytes = tarGzOf(tarPax({ size: String(body.length) }), entry);
    await check(bytes, reason, { limits: { fileBytesMax: 1_000 } });
  });

  test("applies the limit on the size of a file before its bytes are read", async () => {
    const bytes = gzipSync(tarHeader({ name: "a", size: ARCHIVE_LIMITS.fileBytesMax + 1 }));
    await check(bytes, "file_too_large");
    await check(gzipSync(tarHeader({ name: "a", size: ARCHIVE_LIMITS.fileBytesMax })), "truncated");
  });

  test.each(edge("path_too_deep"))("limits the path components, at %d", async (step, reason) => {
    const path = Array(32 + step)
      .fill("d")
      .join("/");
    await check(tarGzOf(tarFile(path)), reason);
    await check(tarGzOf(tarFolder(`${path}/`)), reason);
  });

  test.each(edge("path_too_long"))("limits the path bytes, not characters, at %d", async (step, reason) => {
    const path = `${"ü".repeat(2_000)}/${"x".repeat(95 + step)}`;
    const stored = { onOutdated: () => {} };
    await check(tarGzOf(tarPax({ path }), tarFile("x")), reason, stored);
    await check(tarGzOf(gnuLongName(path), tarFile("x")), reason, stored);
  });

  test.each(edge("name_too_long"))(
    "limits the bytes of each path component of a new archive, at %d",
    async (step, reason) => {
      const name = `${"ü".repeat(100)}${"x".repeat(NAME_BYTES_MAX - 200 + step)}`;
      for (const path of [name, `${name}/a`, `a/${name}`, `a/${name}/b`])
        await check(tarGzOf(tarPax({ path }), tarFile("x")), reason);
      await check(tarGzOf(tarPax({ path: `${name}/` }), tarFolder("x/")), reason);
    },
  );

  test.each(edge("path_too_long"))(
    "limits the bytes of a path of a new archive, at %d",
    async (step, reason) => {
      const path = `${`${"ü".repeat(49)}/`.repeat(7)}${"x".repeat(NEW_PATH_BYTES_MAX - 7 * 99 + step)}`;
      await check(tarGzOf(tarPax({ path }), tarFile("x")), reason);
      await check(tarGzOf(tarPax({ path: `${path}/` }), tarFolder("x/")), reason);
    },
  );

  test("accepts keys of metadata records with one letter", async () => {
    await check(tarGzOf(tarPax({ k: "v" }), tarFile("a")), undefined);
  });

  test.each(edge("metadata_too_large"))("limits one metadata record, at %d", async (step, reason) => {
    const value = "x".repeat(65_536 + step - paxRecord("comment", "").length - 3);
    const record = paxRecord("comment", value);
    expect(record).toHaveLength(65_536 + step);
    await check(tarGzOf(tarEntry({ name: "m", type: "x" }, record), tarFile("a")), reason);
    await check(tarGzOf(tarEntry({ name: "m", type: "g" }, record), tarFile("a")), reason);
  });

  test.each(edge("metadata_too_large"))("limits all metadata together, at %d", async (step, reason) => {
    const entries = [
      tarPax({ path: "one" }),
      tarFile("a"),
      tarPax({ mtime: "2" }, "g"),
      gnuLongName("b"),
      tarFile("c"),
    ];
    const total = paxRecord("path", "one").length + paxRecord("mtime", "2").length + "b\0".length;
    await check(tarGzOf(...entries), reason, { limits: { metadataTotalBytesMax: total - step } });
  });

  test("applies the limit on a metadata record before its bytes are read", async () => {
    for (const type of ["x", "g", "L"]) {
      const endless = tarHeader({ name: "m", type, size: 8_000_000_000 });
      const refusal = await refusalOf(inspectArchive(gzipBomb([endless, 8_000 * MIB])));
      expect(refusal.reason).toBe("archive.metadata_too_large");
      expect(refusal.message).toContain("65536");
    }
  });

  test.each(edge("too_many_entries"))("limits the number of entries, at %d", async (step, reason) => {
    const files = Array.from({ length: 10_000 + step }, (_, index) => tarFolder(`${index}/`));
    await check(tarGzOf(...files), reason);
  });
});

describe("a bomb", () => {
  const GIB = 1024 * MIB;
  /** Counts the pieces of the bomb that were read: reading must stop as soon as the bomb is detected. */
  async function* watched(bomb: AsyncIterable<Uint8Array>, taken: { pieces: number }) {
    for await (const piece of bomb) {
      taken.pieces += 1;
      yield piece;
    }
  }

  test("refuses one gigantic file by its header", async () => {
    const size = Uint8Array.of(0x80, 0, 0, 0, 0, 0, 0, 2, 0x80, 0, 0, 0); // 10 GiB
    const taken = { pieces: 0 };
    const work = inspectArchive(watched(gzipBomb([tarHeader({ name: "bomb", size }), 10 * GIB]), taken));
    const refusal = await refusalOf(work);
    expect(refusal.reason).toBe("archive.file_too_large");
    expect(refusal.message).toContain(String(10 * GIB));
    expect(taken.pieces).toBeLessThan(16);
  });

  test("refuses ten gigabytes of zeros at half a gigabyte, while other work continues", async () => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 1);
    const taken = { pieces: 0 };
    const refusal = await refusalOf(inspectArchive(watched(gzipBomb([TAR_END, 10 * GIB]), taken)));
    clearInterval(timer);

    expect(refusal.reason).toBe("archive.expands_too_large");
    expect(refusal.message).toContain("536870912");
    expect(taken.pieces).toBeLessThan(64); // of 640
    expect(ticks).toBeGreaterThan(10);
  });

  test("refuses half a gigabyte of zeros in allowed files and never holds all of them in memory", async () => {
    // In a separate process, because this one would reuse memory that other tests have freed.
    await using inspecting = Bun.spawn([process.execPath, BOMB_CHILD], { stderr: "inherit" });
    const [reason, peakKib] = (await new Response(inspecting.stdout).text()).split(" ");
    expect(reason).toBe("archive.expands_too_large");
    expect(Number(peakKib) * 1024).toBeLessThan(256 * MIB);
  });
});

describe("paths that adapters need", () => {
  const bytes = tarGzOf(tarFolder("plugin/"), tarFile("plugin/plugin.json"), tarFile("skills/a/SKILL.md"));

  test("finds required paths, including folders without an entry", async () => {
    const requiredPaths = [
      { path: "plugin", kind: "directory", pointer: "/a" },
      { path: "./skills/", kind: "directory", pointer: "/b" },
      { path: "skills/./a/SKILL.md", kind: "file", pointer: "/c" },
      { path: ".", kind: "directory", pointer: "/d" },
    ] as const;
    expect((await inspect(bytes, { requiredPaths })).entries).toBe(3);
  });

  test("names all required paths that are missing or have the wrong type", async () => {
    const requiredPaths = [
      { path: "agents", kind: "directory", pointer: "/adapters/codex/agents_dir" },
      { path: "plugin", kind: "file", pointer: "/adapters/codex/hooks_file" },
      { path: "skills", kind: "directory", pointer: "/adapters/codex/skills_dir" },
      { path: "skills/a/SKILL.md", kind: "directory", pointer: "/adapters/claude/skills_dir" },
    ] as const;
    const refusal = await refusalOf(inspect(bytes, { requiredPaths }));
    expect(refusal.reason).toBe("archive.missing_path");
    expect(refusal.problems).toEqual([
      { pointer: "/adapters/codex/agents_dir", detail: 'the archive has no folder "agents"' },
      { pointer: "/adapters/codex/hooks_file", detail: '"plugin" is not a file in the archive' },
      {
        pointer: "/adapters/claude/skills_dir",
        detail: '"skills/a/SKILL.md" is not a folder in the archive',
      },
    ]);
  });
});
