// The archive that is created from a host's archive: always the same bytes, the paths of the repository, and nothing that a
// workstation would refuse.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readArchiveFacts } from "../../../../src/domain/catalog/archive/archive-facts.ts";
import type { ArchiveLimits } from "../../../../src/domain/catalog/archive/limits.ts";
import {
  PROBLEMS_LISTED_MAX,
  readHostArchive,
  SKIPPED_LISTED_MAX,
} from "../../../../src/domain/catalog/mirroring/host-archive.ts";
import { hostFileIn, mirrorFileIn, repack } from "../../../../src/domain/catalog/mirroring/repack.ts";
import { Spool } from "../../../../src/domain/catalog/mirroring/spool.ts";
import { DOWNLOAD_SCAN_BYTES_MAX } from "../../../../src/domain/catalog/sources/runtime-downloads.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { TAR_NAME_BYTES_MAX } from "../../../../src/platform/files/tar.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { tarEntry, tarFile, tarFolder, tarGzOf, tarPax } from "../../../support/content/tar.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const LONG = `${"d".repeat(80)}/${"f".repeat(80)}.md`;
const TOP = "tools-abc";
const link = (name: string) => tarEntry({ name: `${TOP}/${name}`, type: "2", linkName: "target" });
const file = (name: string, body = "text") => tarFile(`${TOP}/${name}`, body);

let directory: string;
let runs: number;
beforeEach(() => {
  directory = temporaryDirectory();
  runs = 0;
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Options {
  path?: string;
  skipLinks?: boolean;
  commit?: string;
  limits?: Partial<ArchiveLimits>;
}

async function mirrored(archive: Uint8Array, { path = "", skipLinks = false, ...more }: Options = {}) {
  runs += 1;
  const folder = join(directory, String(runs));
  mkdirSync(folder);
  writeFileSync(hostFileIn(folder), archive);
  const { facts, skipped } = await repack({ folder, path, skipLinks, ...more });
  const bytes = readFileSync(mirrorFileIn(folder));
  expect(await readArchiveFacts(once(bytes))).toEqual(facts); // a workstation accepts it, and sees the same
  return { facts, skipped, bytes };
}

async function* once(bytes: Uint8Array) {
  yield bytes;
}

async function refusalOf(archive: Uint8Array, options: Options = {}): Promise<DomainError> {
  const error = await mirrored(archive, options).then(JSON.stringify, (thrown: unknown) => thrown);
  if (error instanceof DomainError) return error;
  throw new Error(`expected a DomainError, got ${error}`);
}

describe("a mirrored archive", () => {
  test("has these bytes on every machine and in every version that writes this format (SRC-20)", async () => {
    const content = "all work and no play makes a dull digest\n".repeat(9_000);
    const { bytes } = await mirrored(
      tarGzOf(
        tarPax({ comment: "abc" }, "g"),
        tarFolder(`${TOP}/`),
        tarEntry({ name: `${TOP}/run.sh`, mode: "0000775" }, "#!/bin/sh\n"),
        file("notes.md", content),
        tarPax({ path: `${TOP}/${LONG}` }),
        tarFile("short", "long name"),
      ),
    );
    expect(sha256Hex(bytes)).toBe("1c3cb9bd6c9e771d38461c7c2b7a0941ee32b4fadee69692d194ff1549ecd7e1");
  });

  test("does not depend on the order, the times, the owners and the folder of the host (SRC-19, SRC-20)", async () => {
    const one = await mirrored(tarGzOf(tarFolder("x/"), tarFile("x/a", "1"), tarFile("x/b/c", "2")));
    const other = await mirrored(
      tarGzOf(tarFile("other-1/b/c", "2"), tarFolder("other-1/b"), tarFile("other-1/a", "1")),
    );
    expect(other.bytes.equals(one.bytes)).toBe(true);
    expect(one.facts.paths).toEqual(["a", "b/c"]);
  });

  test("has the same bytes if a large file arrives in its place or later (SRC-20)", async () => {
    const large = Array.from({ length: DOWNLOAD_SCAN_BYTES_MAX / 4 + 9 }, (_, at) => `${at}\n`).join("");
    const files = [file("a/b", "1"), file("a.b", "2"), file("big", large), file("c", "3"), file("é", "4")];
    const { bytes, facts } = await mirrored(tarGzOf(...files));
    expect(facts.paths).toEqual(["a.b", "a/b", "big", "c", "é"]);
    const orders = [files.toReversed(), [1, 0, 2, 3, 4].map((at) => files[at] ?? Buffer.alloc(0))];
    for (const order of orders) {
      const other = await mirrored(tarGzOf(...order));
      expect([other.bytes.equals(bytes), other.facts]).toEqual([true, facts]);
    }
  });

  test("must be of the requested commit, if the host's archive names one", async () => {
    const [commit, other] = ["1".repeat(40), "2".repeat(64)];
    const naming = (comment: string) => tarGzOf(tarPax({ comment }, "g"), file("a"));
    for (const comment of [commit, "a comment", "2".repeat(39)])
      expect((await mirrored(naming(comment), { commit })).facts.paths).toEqual(["a"]);
    const { kind, reason } = await refusalOf(naming(other), { commit });
    expect([kind, reason]).toEqual(["upstream", "source.other_commit"]);
  });

  test("keeps only the executable bit", async () => {
    const { bytes } = await mirrored(
      tarGzOf(
        tarEntry({ name: `${TOP}/a`, mode: "0000775" }),
        tarEntry({ name: `${TOP}/b`, mode: "0000664" }),
      ),
    );
    const tar = gunzipSync(bytes).toString("latin1");
    expect([tar.slice(100, 107), tar.slice(612, 619)]).toEqual(["0000755", "0000644"]);
  });

  test("keeps names that are longer than a header allows", async () => {
    for (const length of [TAR_NAME_BYTES_MAX - 1, TAR_NAME_BYTES_MAX, TAR_NAME_BYTES_MAX + 1]) {
      const name = "n".repeat(length);
      const { facts } = await mirrored(tarGzOf(tarPax({ path: `${TOP}/${name}` }), tarFile("short")));
      expect(facts.paths).toEqual([name]);
    }
  });

  test("searches files of at most 1 MiB for downloads, and contains larger ones unchanged", async () => {
    const most = DOWNLOAD_SCAN_BYTES_MAX;
    const inTheMiddle = `${"\n".repeat(most / 2 - 3)}curl https://example.org/`; // pieces of half a file would miss it
    const downloading = (bytes: number) => inTheMiddle.padEnd(bytes, "\n");
    const sizes = [most - 1, most, most + 1, 3 * most + 7];
    const files = sizes.map((bytes) => file(`${bytes}.sh`.padStart(12, "0"), downloading(bytes)));
    const { facts } = await mirrored(tarGzOf(...files));
    expect(facts.runtimeDownloads.map(({ path }) => Number.parseInt(path, 10))).toEqual([most - 1, most]);
  });

  test("mirrors only the given folder, without its prefix (SRC-19)", async () => {
    const archive = tarGzOf(file("guide/SKILL.md"), file("guide2/x"), file("README.md"));
    expect((await mirrored(archive, { path: "guide" })).facts.paths).toEqual(["SKILL.md"]);
    expect((await refusalOf(archive, { path: "absent" })).reason).toBe("source.path_not_found");
    expect((await refusalOf(archive, { path: "README.md" })).reason).toBe("source.path_not_found");
  });
});

describe("a repository is refused with a problem for each entry (SRC-21)", () => {
  test.each([
    ["archive.link", link("a")],
    ["archive.link", tarEntry({ name: `${TOP}/a`, type: "1", linkName: "b" })],
    ["archive.special", tarEntry({ name: `${TOP}/a`, type: "3" })],
    ["archive.lfs_pointer", file("a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")],
    ["archive.path_component", file("a/../b")],
    ["archive.path_character", file("a:b")],
    ["archive.path_not_utf8", tarFile(Buffer.from(`${TOP}/\xff`, "latin1"))],
    ["archive.path_misleading", file("a\u202Eb")],
  ])("%s", async (reason, entry) => {
    const refusal = await refusalOf(tarGzOf(file("fine"), entry));
    expect([refusal.kind, refusal.reason]).toEqual(["invalid", reason]);
    expect(refusal.problems.map(({ pointer }) => pointer)).toEqual(["/entries/1"]);
  });

  test("names the path in the repository, and a remedy for the owner of the repository", async () => {
    const { message, hint } = await refusalOf(tarGzOf(link("a"), link("b")));
    expect(message).toEndWith('this commit: "a" is a symbolic link, and 1 more');
    expect(hint).toContain("skip_links");
    const hard = tarEntry({ name: `${TOP}/a`, type: "1", linkName: "b" });
    expect((await refusalOf(tarGzOf(hard))).message).toContain('this commit: "a" is a hard link');
    expect((await refusalOf(tarGzOf(file("a\u202Eb")))).hint).toStartWith("rename or remove");
    const large = await refusalOf(tarGzOf(file("a")), { limits: { fileBytesMax: 1 } });
    expect(large.hint).toContain("export-ignore");
  });

  test("archive.path_collision", async () => {
    const refusal = await refusalOf(tarGzOf(file("Guide"), file("guide")));
    expect([refusal.reason, refusal.problems.length]).toEqual(["archive.path_collision", 1]);
  });

  test("archive.submodule, which is an empty folder where .gitmodules names some", async () => {
    const folder = tarFolder(`${TOP}/vendor/lib/`);
    const modules = file(".gitmodules", '[submodule "lib"]');
    expect((await refusalOf(tarGzOf(folder, modules, file("a")))).reason).toBe("archive.submodule");
    expect((await mirrored(tarGzOf(folder, file("a")))).facts.paths).toEqual(["a"]);
  });

  test("names the first 20 problems", async () => {
    const named = async (count: number) => {
      const links = Array.from({ length: count }, (_, at) => link(`l${at}`));
      return (await refusalOf(tarGzOf(...links))).problems.length;
    };
    const most = PROBLEMS_LISTED_MAX;
    expect([await named(most - 1), await named(most), await named(most + 1)]).toEqual([most - 1, most, most]);
  });

  test("leaves out symbolic links on request, and nothing else", async () => {
    const { facts, skipped } = await mirrored(tarGzOf(file("a"), link("b")), { skipLinks: true });
    expect([facts.paths, skipped]).toEqual([["a"], ["b"]]);
    const listed = async (count: number) => {
      const links = Array.from({ length: count }, (_, at) => link(`l${at}`));
      return (await mirrored(tarGzOf(file("a"), ...links), { skipLinks: true })).skipped.length;
    };
    const most = SKIPPED_LISTED_MAX;
    expect([await listed(most - 1), await listed(most), await listed(most + 1)]).toEqual([
      most - 1,
      most,
      most,
    ]);
    const hard = tarEntry({ name: `${TOP}/a`, type: "1", linkName: "b" });
    expect((await refusalOf(tarGzOf(file("c"), hard), { skipLinks: true })).reason).toBe("archive.link");
  });
});

describe("anything but the archive of a repository", () => {
  const whole = tarGzOf(file("a", "text".repeat(1_000)));
  test.each([
    ["text", Buffer.from("<!doctype html>")],
    ["half an archive", whole.subarray(0, whole.byteLength / 2)],
    ["something that is not a tar archive", Buffer.from(Bun.gzipSync("text"))],
    ["two folders", tarGzOf(tarFile("a/x"), tarFile("b/x"))],
    ["a file without a folder", tarGzOf(tarFile("a"))],
  ])("is refused: %s", async (_, bytes) => {
    const { kind, reason } = await refusalOf(bytes);
    expect([kind, reason]).toEqual(["invalid", "source.not_an_archive"]);
  });

  test("is refused without files", async () => {
    expect((await refusalOf(tarGzOf(tarFolder(`${TOP}/`)))).reason).toBe("archive.empty");
  });
});

describe("limits (SRC-22)", () => {
  const read = async (bytes: Uint8Array, limits: object) => {
    using spool = new Spool(join(directory, crypto.randomUUID()));
    return await readHostArchive(once(bytes), spool, { path: "", skipLinks: false, limits });
  };
  const reasonWith = (bytes: Uint8Array, limits: object) =>
    read(bytes, limits).then(
      () => "accepted",
      (error: unknown) => (error instanceof DomainError ? error.reason : error),
    );
  const archive = tarGzOf(file("a", "text"), file("b", "text"));

  test.each([
    ["compressedBytesMax", archive.byteLength, "source.too_large"],
    ["expandedBytesMax", gunzipSync(archive).byteLength, "archive.expands_too_large"],
    ["entriesMax", 2, "archive.too_many_entries"],
    ["fileBytesMax", 4, "archive.file_too_large"],
  ])("%s applies below, at and above it", async (name, exact, reason) => {
    expect(await reasonWith(archive, { [name]: exact + 1 })).toBe("accepted");
    expect(await reasonWith(archive, { [name]: exact })).toBe("accepted");
    expect(await reasonWith(archive, { [name]: exact - 1 })).toBe(reason);
  });

  test("expandedBytesMax also applies to the created archive, because hosts use shorter headers for long names", async () => {
    const name = "n".repeat(TAR_NAME_BYTES_MAX);
    const long = tarGzOf(tarEntry({ name, prefix: `${TOP}/folder` }, "text"));
    const hostBytes = gunzipSync(long).byteLength;
    const { facts } = await mirrored(long);
    expect(facts.expandedBytes).toBeGreaterThan(hostBytes);
    const limited = (expandedBytesMax: number) => mirrored(long, { limits: { expandedBytesMax } });
    expect((await limited(facts.expandedBytes)).facts).toEqual(facts);
    const refusal = await refusalOf(long, { limits: { expandedBytesMax: facts.expandedBytes - 1 } });
    expect([refusal.kind, refusal.reason]).toEqual(["invalid", "archive.expands_too_large"]);
  });
});
