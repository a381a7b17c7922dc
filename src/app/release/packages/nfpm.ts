// Makes the packages of a release for dpkg and rpm with nfpm, which needs neither program. layout.ts lists their files.
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type PackageContent,
  type PackagedFile,
  type PackageFormat,
  packagedFiles,
  SYSUSERS_FILE,
} from "./layout.ts";
import { DEB_SCRIPTLETS, rpmScriptlets } from "./scriptlets.ts";

const FORMATS: readonly PackageFormat[] = ["deb", "rpm"];

export interface PackageFacts {
  version: string;
  /** one line */
  description: string;
  /** as in process.arch */
  architecture: string;
  /** RFC 3339; the time of every file, so that two packages of one commit are identical */
  builtAt: string;
}

export interface PackageSources extends PackageContent {
  facts: PackageFacts;
}

interface Places {
  /** executable */
  nfpm: string;
  /** receives the packages */
  directory: string;
  /** receives the files that nfpm reads */
  work: string;
}

/**
 * @returns the executable that `NFPM` of the environment names, or else the one on PATH; undefined if there is none
 * @throws Error if NFPM names no program, because a release would end there after minutes
 */
export function findNfpm(named = process.env.NFPM): string | undefined {
  const found = Bun.which(named ?? "nfpm") ?? undefined;
  if (found === undefined && named !== undefined)
    throw new Error(`NFPM names ${named}, which is not a program; unset it to make no packages`);
  return found;
}

/**
 * Makes one package of each format.
 * @returns the paths of the packages
 * @throws Error with the output of nfpm
 */
export const makePackages = (sources: PackageSources, places: Places): string[] =>
  FORMATS.map((format) => makePackage(format, sources, places));

function makePackage(format: PackageFormat, sources: PackageSources, places: Places): string {
  const folder = join(places.work, `${format}-${sources.facts.architecture}`);
  const made = join(folder, "made");
  mkdirSync(made, { recursive: true });
  const config = join(folder, "nfpm.json");
  writeFileSync(config, JSON.stringify(stage(format, sources, folder)));
  const args = ["package", "--config", config, "--packager", format, "--target", made];
  const { exitCode, stdout, stderr } = Bun.spawnSync([places.nfpm, ...args], { stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`nfpm ${args.join(" ")} ended with ${exitCode}:\n${stdout}${stderr}`);
  const [name = ""] = readdirSync(made); // nfpm names it by the convention of the format
  copyFileSync(join(made, name), join(places.directory, name));
  rmSync(folder, { recursive: true });
  return join(places.directory, name);
}

/** Writes the files that nfpm reads into the folder. */
function stage(format: PackageFormat, sources: PackageSources, folder: string): Record<string, unknown> {
  const write = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  const files = packagedFiles(format, sources);
  const contents = [...files].map(([dst, file]) =>
    contentOf({ src: write(`files${dst}`, file.bytes), dst }, file),
  );
  const scriptlets = format === "deb" ? DEB_SCRIPTLETS : rpmScriptlets(textOf(files, SYSUSERS_FILE));
  const scripts = Object.entries(scriptlets).map(([name, text]) => [name, write(`scripts/${name}`, text)]);
  return {
    ...factsOf(format, sources.facts),
    contents: [
      ...foldersOf(files.keys()).map((dst) => ({ dst, type: "dir", file_info: { mode: 0o755 } })),
      ...contents,
    ],
    scripts: Object.fromEntries(scripts),
  };
}

/** nfpm translates Go's names to the names of each format. */
const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** The unit needs systemd; the executable needs the C library. */
const DEPENDENCIES: Readonly<Record<PackageFormat, readonly string[]>> = {
  deb: ["libc6 (>= 2.17)", "systemd (>= 252)"],
  rpm: ["glibc >= 2.17", "systemd >= 252"],
};

const factsOf = (format: PackageFormat, { version, description, architecture, builtAt }: PackageFacts) => ({
  name: "quartermaster",
  version,
  release: "1",
  platform: "linux",
  description,
  arch: GO_ARCHITECTURES[architecture] ?? architecture,
  section: "admin",
  priority: "optional",
  license: "Apache-2.0",
  maintainer: "Quartermaster <quartermaster@localhost>",
  vendor: "Quartermaster",
  mtime: builtAt,
  depends: DEPENDENCIES[format],
  // Names are exact files, not patterns. The package does not contain the name of the build machine.
  disable_globbing: true,
  rpm: { buildhost: "localhost", summary: description },
});

const contentOf = (
  place: { src: string; dst: string },
  { mode, group = "root", isConfig }: PackagedFile,
) => ({
  ...place,
  ...(isConfig && { type: "config|noreplace" }),
  file_info: { mode, owner: "root", group },
});

const textOf = (files: ReadonlyMap<string, PackagedFile>, path: string): string =>
  Buffer.from(files.get(path)?.bytes ?? []).toString();

/** @returns the folders that only this package owns */
const foldersOf = (paths: Iterable<string>): string[] => [...new Set([...paths].flatMap(ownFolders))];

const ownFolders = (path: string): string[] => {
  const folder = dirname(path);
  return folder.includes("/quartermaster") ? [...ownFolders(folder), folder] : [];
};
