// A release as an operator without a network receives it: unpacked with tar, verified with sha256sum and openssl, and installed
// from its own files (AIR-1).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { verify } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import {
  type BundledPackage,
  bundledPackages,
  identityOf,
} from "../../../src/app/release/bundled-packages.ts";
import { BUNDLES, makeRelease } from "../../../src/app/release/release.ts";
import { thirdPartyText } from "../../../src/app/release/texts.ts";
import { CHAPTERS } from "../../../src/handbook/contents.ts";
import { SETTING_NAMES } from "../../../src/platform/config/table.ts";
import {
  blocksOfMarkdown,
  expectBlocksTrue,
  FOLDERS_OF_DEBIAN,
  type Placeholder,
} from "../../support/cli/documentation.ts";
import { productCommand } from "../../support/cli/executable.ts";
import { CHAPTERS_FOLDER } from "../../support/content/chapter-files.ts";
import { temporaryDirectory } from "../../support/world.ts";
import { newSigner } from "./signer.ts";

const ROOT = join(import.meta.dir, "../../..");
const PICTURES = readdirSync(join(CHAPTERS_FOLDER, "pictures"));
const SCHEMAS = join(ROOT, "node_modules/@cyclonedx/cyclonedx-library/res/schema");

const signer = newSigner();
let bundled: readonly BundledPackage[];
let directory: string;
let executable: string;
let archive: string;
let folder: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  executable = launcherIn(directory);
  bundled = await bundledPackages(ROOT, BUNDLES);
  ({ archive } = await makeRelease({ directory, executable, signer, bundled }));
  folder = unpacked(archive, "first");
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Runs the sources instead of the compiled executable, which takes long to build. Each command is run only once. */
function launcherIn(place: string): string {
  const path = join(place, "launcher");
  const response = `${place}/printed-$(echo "$*" | tr -c "[:alnum:]" _)`;
  const lines = [
    "#!/bin/sh",
    `[ -f "${response}" ] || ${productCommand().join(" ")} "$@" > "${response}"`,
    `cat "${response}"`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o755 });
  return path;
}

function unpacked(path: string, name: string): string {
  const place = join(directory, name);
  mkdirSync(place);
  run(["tar", "-xzf", path, "-C", place]);
  return join(place, readdirSync(place)[0] ?? "");
}

function run(command: string[], cwd = directory): { output: string; exitCode: number } {
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd, env: { PATH: process.env.PATH } });
  return { output: `${stdout}${stderr}`, exitCode };
}

const filesIn = (place: string) => [...new Bun.Glob("**").scanSync(place)].sort();
const read = (file: string) => readFileSync(join(folder, file), "utf8");

const MARKDOWN_LINK = /\]\(([^)#]+)/g;

/** @returns the links in a file that lead to files missing from the release; the first group of the pattern is a link */
const missingOf = (file: string, pattern: RegExp): string[] =>
  [...read(file).matchAll(pattern)]
    .map(([, link = ""]) => link)
    .filter((link) => !link.startsWith("https://") && !existsSync(join(folder, dirname(file), link)));

const verified = (place: string, key = signer.publicKey) => ({
  sums: run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], place).exitCode,
  isSigned: verify(
    null,
    readFileSync(join(place, "SHA256SUMS")),
    key,
    readFileSync(join(place, "SHA256SUMS.sig")),
  ),
});

describe("AIR-1: a release", () => {
  test("is one archive with all its files", () => {
    expect(filesIn(folder)).toEqual(
      [
        ...[
          "CHANGES.md",
          "LICENSE",
          "README.md",
          "SHA256SUMS",
          "SHA256SUMS.sig",
          "THIRD-PARTY-LICENSES.txt",
          "VERIFY.md",
        ],
        ...["completions/_quartermaster", "completions/quartermaster.bash", "completions/quartermaster.fish"],
        ...["example/catalog.yaml", "example/quartermaster.yaml", "example/review-guide-1.2.0.tar.gz"],
        ...["handbook/index.html", "handbook/style.css"],
        ...PICTURES.map((name) => `handbook/pictures/${name}`),
        ...CHAPTERS.flatMap(({ name }) => [`handbook/${name}.md`, `handbook/${name}.html`]),
        ...["monitoring/alert-rules.yaml", "monitoring/dashboard.json"],
        ...["quartermaster", "quartermaster.1", "quartermaster.service", "quartermaster.sysusers.conf"],
        ...["release-key.pub", "sbom.cdx.json"],
      ].sort(),
    );
    expect(statSync(join(folder, "quartermaster")).mode & 0o777).toBe(0o755);
  });

  test("has a handbook whose links and pictures resolve to its own files", () => {
    const pages = ["index", ...CHAPTERS.map(({ name }) => name)];
    const missing = pages.flatMap((name) => [
      ...missingOf(`handbook/${name}.html`, / (?:href|src)="([^"#]+)/g),
      ...(name === "index" ? [] : missingOf(`handbook/${name}.md`, MARKDOWN_LINK)),
    ]);
    expect(missing).toEqual([]);
    expect(read("handbook/introduction.html")).toContain('<img src="pictures/parts.svg"');
    expect(read("handbook/introduction.md")).toContain("](pictures/parts.svg)");
  });

  test("has a README whose links and pictures resolve to files of the release", () => {
    expect(missingOf("README.md", MARKDOWN_LINK)).toEqual([]);
    expect(missingOf("README.md", / src="([^"]+)/g)).toEqual([]);
    expect(read("README.md")).toContain("](handbook/pictures/parts.svg)");
    expect(read("README.md")).not.toMatch(/src\/handbook|^```\w+ /m);
  });

  test("is signed with the key beside it", () => {
    expect(verified(folder)).toEqual({ sums: 0, isSigned: true });
    expect(read("release-key.pub")).toBe(signer.publicKey);
    expect(read("VERIFY.md")).toContain(signer.keyId);
  });

  const programs = ["openssl"].filter((program) => Bun.which(program) !== null);
  test.each(programs)(
    "verifies offline and installs with the commands of VERIFY.md, which need %s",
    async () => {
      const root = join(directory, "root");
      for (const name of FOLDERS_OF_DEBIAN) mkdirSync(join(root, name), { recursive: true });
      const placeholders: Placeholder[] = [
        ["/usr/local/", join(root, "usr/local/"), "needs root"],
        ["/etc/", join(root, "etc/"), "needs root"],
        [" -g quartermaster", "", "the group does not exist before systemd-sysusers"],
        ["systemd-sysusers\n", "true\n", "needs root"],
      ];
      const place = { directory: folder, bin: join(root, "usr/local/bin"), placeholders };
      const [digest] = await expectBlocksTrue(blocksOfMarkdown(read("VERIFY.md")), place);
      expect(digest).toStartWith(signer.keyId);
      expect(filesIn(root)).toContain("etc/sysusers.d/quartermaster.conf");
    },
  );

  test("lists every file except the list and its signature", () => {
    const listed = read("SHA256SUMS")
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(66));
    expect(listed).toEqual(filesIn(folder).filter((file) => !file.startsWith("SHA256SUMS")));
  });

  test("fails verification after a change of a file, the list or the key", () => {
    const place = unpacked(archive, "changed");
    appendFileSync(join(place, "sbom.cdx.json"), " ");
    expect(verified(place)).toEqual({ sums: 1, isSigned: true });
    appendFileSync(join(place, "SHA256SUMS"), "\n");
    expect(verified(place)).toMatchObject({ isSigned: false });
    expect(verified(folder, newSigner().publicKey)).toEqual({ sums: 0, isSigned: false });
  });

  test("makes a release for another machine with its executable and this machine's other files", async () => {
    const path = join(directory, "foreign");
    writeFileSync(path, "another executable");
    const { archive: foreign } = await makeRelease({
      directory: join(directory, "foreign-release"),
      executable,
      signer,
      bundled,
      other: { executable: path, architecture: "arm64" },
    });
    expect(foreign).toEndWith("-arm64.tar.gz");
    const place = unpacked(foreign, "foreign-unpacked");
    const differing = filesIn(folder).filter(
      (file) => !readFileSync(join(folder, file)).equals(readFileSync(join(place, file))),
    );
    expect(differing).toEqual([
      "SHA256SUMS",
      "SHA256SUMS.sig",
      "VERIFY.md",
      "quartermaster",
      "sbom.cdx.json",
    ]);
    expect(readFileSync(join(place, "quartermaster"), "utf8")).toBe("another executable");
    expect(readFileSync(join(place, "VERIFY.md"), "utf8")).toContain(
      `bun run build --target bun-${process.platform}-arm64 && sha256sum dist/quartermaster-${process.platform}-arm64`,
    );
    expect(verified(place)).toEqual({ sums: 0, isSigned: true });
  });

  test("is reproducible byte for byte, and another key changes only the texts that name the key", async () => {
    const { archive: again } = await makeRelease({
      directory: join(directory, "again"),
      executable: executable,
      signer,
    });
    expect(Bun.hash(readFileSync(again))).toBe(Bun.hash(readFileSync(archive)));
    const { archive: others } = await makeRelease({
      directory: join(directory, "other"),
      executable,
      bundled,
      signer: newSigner(),
    });
    const other = unpacked(others, "others");
    const differing = filesIn(folder).filter(
      (file) => !readFileSync(join(folder, file)).equals(readFileSync(join(other, file))),
    );
    expect(differing).toEqual(["SHA256SUMS", "SHA256SUMS.sig", "VERIFY.md", "release-key.pub"]);
  });
});

describe("the files of a release", () => {
  test("run, verify and document every setting", () => {
    const check = ["./quartermaster", "config", "check", "--config", "example/quartermaster.yaml"];
    expect(run(check, folder)).toMatchObject({ exitCode: 0 });
    const keys = SETTING_NAMES.map((name) => name.split(".").at(-1) ?? name);
    const example = read("example/quartermaster.yaml");
    expect(keys.filter((key) => !new RegExp(`^ *(?:# )?${key}(?:_file)?:`, "m").test(example))).toEqual([]);
    expect(read("quartermaster.service")).toContain("ExecStart=/usr/local/bin/quartermaster serve\n");
    expect(read("quartermaster.1")).toStartWith(".");
    expect(run(["bash", "-n", "completions/quartermaster.bash"], folder)).toEqual({
      output: "",
      exitCode: 0,
    });
  });

  test("CON-9 include a bill of materials that is valid CycloneDX 1.6 and lists every bundled package", () => {
    const schemaOf = (name: string) =>
      JSON.parse(readFileSync(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), "utf8"));
    const ajv = new Ajv({ strict: false });
    for (const name of ["spdx", "jsf-0.82"])
      ajv.addSchema(schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
    addFormats(ajv);
    ajv.addFormat("iri-reference", true).addFormat("idn-email", true);
    const sbom = JSON.parse(read("sbom.cdx.json"));
    ajv.validate(schemaOf("bom-1.6"), sbom);
    expect(ajv.errors).toBeNull();
    const references = sbom.components.map((component: { "bom-ref": string }) => component["bom-ref"]);
    expect(references.toSorted()).toEqual([`bun@${Bun.version}`, ...bundled.map(identityOf)].sort());
    expect(bundled.map(({ name }) => name)).toEqual(expect.arrayContaining(["elysia", "idiomorph"]));
  });

  test("CON-9 include the license of every bundled package", () => {
    for (const { name, version, license } of bundled)
      expect(read("THIRD-PARTY-LICENSES.txt")).toContain(`\n${name} ${version} (${license})\n`);
    const bare = {
      name: "bare",
      version: "1.0.0",
      license: "MIT",
      licenseText: undefined,
      sha512: "",
      imports: [],
    };
    expect(() => thirdPartyText([bare], "1")).toThrow("has no license text");
  });
});
