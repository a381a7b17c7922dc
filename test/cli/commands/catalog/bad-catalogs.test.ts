// Invalid catalog files: each fails with one clear message and the right exit code, and leaves catalog and artifacts unchanged.
import { expect, test } from "bun:test";
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES_MAX } from "../../../../src/domain/catalog/model.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { tarEntry, tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";

const DIGEST = "a".repeat(64);
const entry = (members: object = {}) => ({
  id: "one",
  version: "1",
  source_ref: "https://example.com/one.tar.gz",
  sha256: DIGEST,
  ...members,
});
const catalogOf = (...entries: object[]): string => JSON.stringify(entries);

interface Refusal {
  exitCode: number;
  /** part of the only line that names the problem */
  says: string | RegExp;
}

async function expectRefused(workspace: Workspace, { exitCode, says }: Refusal): Promise<void> {
  const before = await stateOf(workspace);
  const refused = await workspace.run("catalog seed bad.yaml");
  const lines = refused.stderr.split("\n").filter((line) => !/^(hint|run): /.test(line) && line !== "");
  expect(refused.stdout).toBe("");
  expect(lines[0]).toStartWith("error: ");
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(lines.at(-1)).toMatch(says);
  expect(refused.exitCode).toBe(exitCode);
  const dry = await workspace.run("catalog seed bad.yaml --dry-run");
  expect(dry).toEqual(refused);
  expect(await stateOf(workspace)).toEqual(before);
}

/** @returns the catalog, and all file names in the artifacts folder */
const stateOf = async (workspace: Workspace) => ({
  catalog: (await workspace.run("catalog list --json")).stdout,
  artifacts: [
    ...new Bun.Glob("**").scanSync({ cwd: join(workspace.data, "artifacts"), onlyFiles: false }),
  ].sort(),
});

async function installationWithOne(): Promise<Workspace> {
  const workspace = await createInstallation();
  const archive = tarGzOf(tarFile("plugin/a.txt", "a"));
  writeFileSync(join(workspace.folder, "good.tar.gz"), archive);
  const good = entry({ id: "good", source_ref: "good.tar.gz", sha256: sha256Hex(archive) });
  writeFileSync(join(workspace.folder, "good.yaml"), catalogOf(good));
  const { added } = await workspace.json("catalog seed good.yaml");
  expect(added).toHaveLength(1);
  return workspace;
}

const alternating = Array.from({ length: 9 }, (_, at) => {
  const previous = String.fromCharCode(96 + at);
  return `${String.fromCharCode(97 + at)}: &${String.fromCharCode(97 + at)} [${at === 0 ? "x" : `*${previous}`.padEnd(0)}${at === 0 ? "" : `,*${previous}`.repeat(9)}]`;
}).join("\n");

const overlapping = entry({
  adapters: {
    claude: {
      introduced: "1.0.38",
      variants: [
        { introduced: "1.0.38", before: "2.0.12", hooks_file: "a.json" },
        { introduced: "2.0.0", hooks_file: "b.json" },
      ],
    },
  },
});

const texts: readonly [name: string, text: string | Uint8Array, refusal: Refusal][] = [
  ["an empty file", "", { exitCode: 2, says: /empty/ }],
  [
    "bytes that are not UTF-8",
    Buffer.from([0x2d, 0x20, 0xff, 0xfe]),
    { exitCode: 2, says: /^bad.yaml:1(?::\d+)?: is not UTF-8 text at byte 2/ },
  ],
  ["an alias bomb", alternating, { exitCode: 2, says: /alias|amount/ }],
  ["a duplicate key", `- id: one\n  id: two\n`, { exitCode: 2, says: /^bad.yaml:2(?::\d+)?: / }],
  [
    "a tab",
    `- id: one\n\tversion: 1\n`,
    { exitCode: 2, says: /^bad.yaml:2(?::\d+)?: is indented with a tab; use spaces$/ },
  ],
  [
    "a package too many",
    catalogOf(...Array.from({ length: PACKAGES_MAX + 1 }, (_, at) => entry({ id: `p-${at}` }))),
    { exitCode: 2, says: new RegExp(`${PACKAGES_MAX}`) },
  ],
  [
    "an upper-case id",
    catalogOf(entry({ id: "One" })),
    { exitCode: 2, says: /^bad.yaml:1(?::\d+)?: \/0\/id: / },
  ],
  [
    "a digest of 63 digits",
    catalogOf(entry({ sha256: "a".repeat(63) })),
    { exitCode: 2, says: /^bad.yaml:1(?::\d+)?: \/0\/sha256: / },
  ],
  [
    "overlapping variants",
    catalogOf(overlapping),
    { exitCode: 2, says: /^bad.yaml:1(?::\d+)?: \/0\/adapters\/claude\/variants\/1.*overlap/ },
  ],
];

test.each(texts)("%s", async (_, text, refusal) => {
  using workspace = await installationWithOne();
  writeFileSync(join(workspace.folder, "bad.yaml"), text);
  await expectRefused(workspace, refusal);
});

test("a missing file", async () => {
  using workspace = await installationWithOne();
  await expectRefused(workspace, { exitCode: 3, says: /^error: there is no file .*bad\.yaml$/ });
});

test("does not read a file of 200 MB", async () => {
  using workspace = await installationWithOne();
  const file = openSync(join(workspace.folder, "bad.yaml"), "w");
  ftruncateSync(file, 200_000_000);
  closeSync(file);
  await expectRefused(workspace, { exitCode: 2, says: /has 200000000 bytes; at most 8388608 are read$/ });
});

const device = tarEntry({ name: "plugin/null", type: "3" });
const archives: readonly [name: string, archive: () => Uint8Array, says: RegExp][] = [
  ["a path that leaves the archive root", () => tarGzOf(tarFile("../evil.txt", "x")), /"\.\.\/evil\.txt"/],
  [
    "a symbolic link",
    () => tarGzOf(tarEntry({ name: "plugin/link", type: "2", linkName: "/etc/passwd" })),
    /link/,
  ],
  ["a device", () => tarGzOf(device), /"plugin\/null"/],
  ["text instead of an archive", () => Buffer.from("not gzip"), /gzip/],
];

test.each(archives)("an archive with %s", async (_, archive, says) => {
  using workspace = await installationWithOne();
  const bytes = archive();
  writeFileSync(join(workspace.folder, "bad.tar.gz"), bytes);
  const bad = entry({ source_ref: "bad.tar.gz", sha256: sha256Hex(bytes) });
  writeFileSync(join(workspace.folder, "bad.yaml"), catalogOf(bad));
  await expectRefused(workspace, { exitCode: 7, says });
});

test("an archive with the wrong digest: shows both digests", async () => {
  using workspace = await installationWithOne();
  const bytes = tarGzOf(tarFile("a", "a"));
  writeFileSync(join(workspace.folder, "bad.tar.gz"), bytes);
  writeFileSync(join(workspace.folder, "bad.yaml"), catalogOf(entry({ source_ref: "bad.tar.gz" })));
  const says = new RegExp(`^bad.yaml:1(?::\\d+)?: /0/sha256: .*${sha256Hex(bytes)}.*${DIGEST}`);
  await expectRefused(workspace, { exitCode: 7, says });
});

test("a missing archive, or a folder in its place", async () => {
  using workspace = await installationWithOne();
  writeFileSync(join(workspace.folder, "bad.yaml"), catalogOf(entry({ source_ref: "none.tar.gz" })));
  await expectRefused(workspace, {
    exitCode: 2,
    says: /^bad.yaml:1(?::\d+)?: \/0\/source_ref: there is no file/,
  });
  mkdirSync(join(workspace.folder, "none.tar.gz"));
  await expectRefused(workspace, {
    exitCode: 2,
    says: /^bad.yaml:1(?::\d+)?: \/0\/source_ref: .* is not a regular file$/,
  });
});

test("one valid and one invalid archive: stores neither", async () => {
  using workspace = await installationWithOne();
  const [fine, climbing] = [tarGzOf(tarFile("b", "b")), tarGzOf(tarFile("../c", "c"))];
  writeFileSync(join(workspace.folder, "fine.tar.gz"), fine);
  writeFileSync(join(workspace.folder, "bad.tar.gz"), climbing);
  const entries = [
    entry({ id: "fine", source_ref: "fine.tar.gz", sha256: sha256Hex(fine) }),
    entry({ id: "bad", source_ref: "bad.tar.gz", sha256: sha256Hex(climbing) }),
  ];
  writeFileSync(join(workspace.folder, "bad.yaml"), catalogOf(...entries));
  await expectRefused(workspace, { exitCode: 7, says: /^bad.yaml:1(?::\d+)?: \/1\/source_ref: / });
});
