// `bun run release --key KEYFILE`: packs everything that an operator without a network needs into one archive with a signed list
// of checksums, and makes packages of the same files if nfpm is installed. A second signed list covers the archives and packages. The
// content depends only on the commit; the signature also depends on the key.
import {
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { illustratedText } from "../../handbook/chapters.ts";
import { chapterFile, contentsFile } from "../../handbook/content.tsx";
import { CHAPTERS } from "../../handbook/contents.ts";
import { withoutTags } from "../../handbook/markdown.ts";
import { SECOND_MS } from "../../platform/clock.ts";
import { type FileSigner, fileSigner } from "../../platform/crypto/file-signatures.ts";
import { tarEnd, tarHeader, tarPadding } from "../../platform/files/tar.ts";
import { sha256Hex } from "../../platform/ids.ts";
import { Secret } from "../../platform/secret.ts";
import { BROWSER_ENTRIES } from "../../server/console/assets/bundle.ts";
import { build, ENTRIES } from "./build.ts";
import { type Bundle, type BundledPackage, bundledPackages } from "./bundled-packages.ts";
import { exampleConfig, packagedConfig } from "./example-config.ts";
import { EXECUTABLE_PLACE } from "./packages/layout.ts";
import { findNfpm, makePackages } from "./packages/nfpm.ts";
import { sbomText } from "./sbom.ts";
import { thirdPartyText, verifyText } from "./texts.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const EXECUTABLE = "quartermaster";
const INSTALLED = "/usr/local/bin/quartermaster";
const SUMS = "SHA256SUMS";
const CHAPTERS_FOLDER = "src/handbook/chapters/";
const CHAPTER_FOLDERS = /src\/handbook\/chapters\/(?:[a-z]+\/(?=[a-z-]+\.md))?/g;

/** The bundles whose third-party packages a release lists: the program, and the browser code. */
export const BUNDLES: readonly Bundle[] = [
  { target: "bun", entries: ENTRIES },
  { target: "browser", entries: BROWSER_ENTRIES.map((entry) => `src/server/console/browser/${entry}`) },
];

/** Files that the executable prints itself, with the command for each. */
const PRINTED: Readonly<Record<string, readonly string[]>> = {
  "quartermaster.service": ["unit", "--executable", INSTALLED],
  "quartermaster.sysusers.conf": ["unit", "--sysusers"],
  "quartermaster.1": ["manual"],
  "monitoring/alert-rules.yaml": ["help", "alert-rules"],
  "monitoring/dashboard.json": ["help", "dashboard"],
  "completions/quartermaster.bash": ["completion", "bash"],
  "completions/_quartermaster": ["completion", "zsh"],
  "completions/quartermaster.fish": ["completion", "fish"],
};

/** Files that are copied from the repository unchanged. */
const COPIED: Readonly<Record<string, string>> = {
  LICENSE: "LICENSE",
  "CHANGES.md": "CHANGES.md",
  "handbook/style.css": "src/server/pages/style.css",
  ...Object.fromEntries(
    readdirSync(join(ROOT, CHAPTERS_FOLDER, "pictures")).map((name) => [
      `handbook/pictures/${name}`,
      `${CHAPTERS_FOLDER}pictures/${name}`,
    ]),
  ),
  "example/catalog.yaml": "src/domain/catalog/example/catalog.yaml",
  "example/review-guide-1.2.0.tar.gz": "src/domain/catalog/example/review-guide-1.2.0.tar.gz",
};

export interface ReleaseOptions {
  /** where the files of the release are written */
  directory: string;
  /** built for this machine, because making a release runs the executable */
  executable: string;
  /** executable of the same commit for another machine, which the archive contains instead */
  other?: { executable: string; architecture: string };
  signer: FileSigner;
  /** the packages of BUNDLES if the caller knows them; otherwise everything is bundled to list them */
  bundled?: readonly BundledPackage[];
  /** executable that makes packages; undefined makes none */
  nfpm?: string | undefined;
}

type Files = Map<string, Uint8Array>;

/** Paths of the files of a release. */
export interface ReleasePaths {
  archive: string;
  /** the bill of materials, as in the archive */
  sbom: string;
  packages: string[];
}

/**
 * @throws Error if the executable does not print the expected files, or with the output of nfpm
 */
export async function makeRelease(options: ReleaseOptions): Promise<ReleasePaths> {
  const { directory, executable, other, signer, nfpm } = options;
  const facts = JSON.parse(printedBy(executable, ["version", "--json"]));
  const architecture = other?.architecture ?? process.arch;
  const name = `${EXECUTABLE}-${facts.version}-${process.platform}-${architecture}`;
  const program = readFileSync(other?.executable ?? executable);
  const files: Files = new Map([[EXECUTABLE, program]]);
  const addText = (file: string, text: string) => files.set(file, Buffer.from(text));
  for (const [file, args] of Object.entries(PRINTED)) addText(file, printedBy(executable, args));
  for (const [file, path] of Object.entries(COPIED)) files.set(file, readFileSync(join(ROOT, path)));
  addText("example/quartermaster.yaml", exampleConfig());
  addText("README.md", readme());
  for (const [file, text] of handbookFiles()) addText(`handbook/${file}`, text);
  const bundled = options.bundled ?? (await bundledPackages(ROOT, BUNDLES));
  const product = {
    version: facts.version,
    commit: facts.commit,
    builtAt: facts.build_time ?? undefined,
    sha256: sha256Hex(program),
    runtime: Bun.version,
  };
  addText("sbom.cdx.json", sbomText(product, bundled));
  addText("THIRD-PARTY-LICENSES.txt", thirdPartyText(bundled, Bun.version));
  addText(
    "VERIFY.md",
    verifyText({ ...product, keyId: signer.keyId, target: other && targetOf(other.architecture) }),
  );
  sign(files, signer);
  mkdirSync(directory, { recursive: true });
  const builtAt = product.builtAt ?? "1970-01-01T00:00:00Z";
  const archive = join(directory, `${name}.tar.gz`);
  writeFileSync(archive, gzipSync(packed(name, files, Math.floor(Date.parse(builtAt) / SECOND_MS))));
  const sbom = join(directory, `${name}.sbom.cdx.json`);
  writeFileSync(sbom, files.get("sbom.cdx.json") ?? "");
  const version = { version: facts.version, builtAt, architecture };
  const packages = nfpm === undefined ? [] : packagesOf(files, version, { directory, executable, nfpm });
  return { archive, sbom, packages };
}

function packagesOf(
  files: Files,
  facts: { version: string; builtAt: string; architecture: string },
  { directory, executable, nfpm }: { directory: string; executable: string; nfpm: string },
): string[] {
  const { description } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  using work = mkdtempDisposableSync(join(tmpdir(), "quartermaster-packages-"));
  const unit = printedBy(executable, ["unit", "--executable", EXECUTABLE_PLACE]);
  const sources = { facts: { ...facts, description }, files, unit, config: packagedConfig() };
  return makePackages(sources, { nfpm, directory, work: work.path });
}

export const pathsOf = ({ archive, sbom, packages }: ReleasePaths): string[] => [archive, sbom, ...packages];

/** Writes a signed list of the files into their folder. */
export function signRelease(directory: string, paths: readonly string[], signer: FileSigner): void {
  const files: Files = new Map(paths.map((path) => [basename(path), readFileSync(path)]));
  sign(files, signer);
  for (const name of ["release-key.pub", SUMS, `${SUMS}.sig`])
    writeFileSync(join(directory, name), files.get(name) ?? "");
}

const targetOf = (architecture: string): string => `bun-${process.platform}-${architecture}`;

/** The README of the repository; its links lead to the handbook of the release. */
const readme = (): string =>
  withoutTags(readFileSync(join(ROOT, "README.md"), "utf8")).replaceAll(CHAPTER_FOLDERS, "handbook/");

/** Each chapter in Markdown and as a page, and an index. */
const handbookFiles = (): [file: string, text: string][] => [
  ["index.html", contentsFile()],
  ...CHAPTERS.flatMap((chapter): [string, string][] => [
    [`${chapter.name}.md`, illustratedText(chapter.name) ?? ""],
    [`${chapter.name}.html`, chapterFile(chapter)],
  ]),
];

function sign(files: Files, signer: FileSigner): void {
  files.set("release-key.pub", Buffer.from(signer.publicKey));
  const lines = [...files].sort(byName).map(([file, bytes]) => `${sha256Hex(bytes)}  ${file}\n`);
  const sums = Buffer.from(lines.join(""));
  files.set(SUMS, sums);
  files.set(`${SUMS}.sig`, signer.sign(sums));
}

const byName = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);

function packed(folder: string, files: Files, modifiedAtSeconds: number): Uint8Array {
  const members = [...files].sort(byName).flatMap(([file, bytes]) => {
    const mode = file === EXECUTABLE ? 0o755 : 0o644;
    const header = tarHeader({ name: `${folder}/${file}`, sizeBytes: bytes.length, mode, modifiedAtSeconds });
    return [header, bytes, tarPadding(bytes.length)];
  });
  return Buffer.concat([...members, tarEnd()]);
}

/** Runs in the root folder with an empty environment, so that the text does not depend on this machine. */
function printedBy(executable: string, args: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([executable, ...args], {
    cwd: "/",
    env: {},
    stdin: "ignore",
  });
  if (exitCode === 0 && stdout.length > 0) return stdout.toString();
  throw new Error(`${EXECUTABLE} ${args.join(" ")} ended with ${exitCode}:\n${stderr}`);
}

/** Other users must not be able to read our private key. */
function signerIn(path: string): FileSigner {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file) throw new Error(`${path} does not exist\n${USAGE}`);
  if ((file.mode & 0o077) !== 0) throw new Error(`other users can read ${path}: chmod 600 ${path}`);
  return fileSigner(new Secret(readFileSync(path, "utf8")), path);
}

/** Each architecture gets an archive. The architecture of this machine is always one of them. */
const ARCHITECTURES = ["x64", "arm64"];

const USAGE = `usage: bun run release --key KEYFILE [--out FOLDER] [--only-this-machine]
KEYFILE holds an Ed25519 private key in PEM: openssl genpkey -algorithm ed25519 -out release-key.pem`;

const NO_PACKAGES =
  "no .deb and no .rpm were made, because nfpm is not on PATH; run go install github.com/goreleaser/nfpm/v2/cmd/nfpm@latest, or name it with NFPM";

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { key: { type: "string" }, out: { type: "string" }, "only-this-machine": { type: "boolean" } },
  });
  if (values.key === undefined) throw new Error(USAGE);
  const signer = signerIn(resolve(values.key));
  const nfpm = findNfpm();
  using work = mkdtempDisposableSync(join(tmpdir(), "quartermaster-release-"));
  const others = values["only-this-machine"]
    ? []
    : ARCHITECTURES.filter((architecture) => architecture !== process.arch);
  build({ directory: work.path, targets: others.map(targetOf) });
  const executable = join(work.path, EXECUTABLE);
  const { commit } = JSON.parse(printedBy(executable, ["version", "--json"]));
  if (!/^[0-9a-f]{40}$/.test(commit))
    throw new Error(`a release needs a clean working tree, but this is ${commit}`);
  const directory = resolve(values.out ?? join(ROOT, "dist/release"));
  const bundled = await bundledPackages(ROOT, BUNDLES);
  const made: string[] = [];
  for (const architecture of [undefined, ...others]) {
    const path = join(work.path, `${EXECUTABLE}-${process.platform}-${architecture}`);
    const other = architecture === undefined ? {} : { other: { executable: path, architecture } };
    made.push(...pathsOf(await makeRelease({ directory, executable, signer, bundled, nfpm, ...other })));
  }
  signRelease(directory, made, signer);
  for (const path of made) console.log(path);
  if (nfpm === undefined) console.log(NO_PACKAGES);
  console.log(`${join(directory, SUMS)}, signed by ${signer.keyId}`);
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
}
