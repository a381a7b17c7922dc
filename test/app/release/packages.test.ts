// The nfpm configuration of a release, and the scripts of the packages. `bun run test:packages` installs real packages.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { packagedConfig } from "../../../src/app/release/example-config.ts";
import { findNfpm, makePackages } from "../../../src/app/release/packages/nfpm.ts";
import { DEB_SCRIPTLETS, rpmScriptlets } from "../../../src/app/release/packages/scriptlets.ts";
import { signRelease } from "../../../src/app/release/release.ts";
import { temporaryDirectory } from "../../support/world.ts";
import { newSigner } from "./signer.ts";

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true }));

/** @returns the path of a shell script that stands in for nfpm */
function nfpmThat(name: string, script: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

const NAMES = ["quartermaster", "quartermaster.1", "quartermaster.service", "quartermaster.sysusers.conf"];
const OTHERS = [
  "completions/_quartermaster",
  "LICENSE",
  "handbook/install.md",
  "sbom.cdx.json",
  "VERIFY.md",
  "SHA256SUMS",
];
const sources = {
  facts: {
    version: "1.2.3",
    description: "A service",
    architecture: "arm64",
    builtAt: "2026-01-02T03:04:05Z",
  },
  files: new Map([...NAMES, ...OTHERS].map((name) => [name, Buffer.from(name)])),
  unit: "[Service]\n",
  config: packagedConfig(),
};
const make = (nfpm: string) => makePackages(sources, { nfpm, directory, work: join(directory, "work") });

test("NFPM must name a program", () => {
  const path = nfpmThat("named", "exit 0");
  expect(findNfpm(path)).toBe(path);
  expect(() => findNfpm(join(directory, "absent"))).toThrow("which is not a program");
});

describe("AIR-1: packages", () => {
  // Each package is a copy of its nfpm configuration.
  const made = make(nfpmThat("copying", 'cp "$3" "$7/quartermaster.$5"'));
  const [deb, rpm] = made.map((path) => JSON.parse(readFileSync(path, "utf8")));
  const entryOf = (config: { contents: { dst: string }[] }, dst: string) =>
    config.contents.find((entry) => entry.dst === dst);

  test("makes packages for dpkg and rpm that depend on the versions that the unit and the executable need", () => {
    expect(made.map((path) => basename(path))).toEqual(["quartermaster.deb", "quartermaster.rpm"]);
    const facts = { name: "quartermaster", version: "1.2.3", arch: "arm64", mtime: "2026-01-02T03:04:05Z" };
    expect(deb).toMatchObject({ ...facts, depends: ["libc6 (>= 2.17)", "systemd (>= 252)"] });
    expect(rpm).toMatchObject({ ...facts, depends: ["glibc >= 2.17", "systemd >= 252"] });
  });

  test("mark the configuration file, which only root and the service may read", () => {
    for (const config of [deb, rpm]) {
      const marked = config.contents.filter(({ type }: { type?: string }) => type?.startsWith("config"));
      expect(marked).toMatchObject([
        {
          dst: "/etc/quartermaster/quartermaster.yaml",
          type: "config|noreplace",
          file_info: { mode: 0o640, owner: "root", group: "quartermaster" },
        },
      ]);
    }
    expect(parse(packagedConfig())).toBeNull();
  });

  test("have every file of the release at the place of its format, except files about the archive", () => {
    const placesOf = (config: { contents: { dst: string; type?: string }[] }) =>
      config.contents.filter(({ type }) => type !== "dir").map(({ dst }) => dst);
    const common = [
      ...["/etc/quartermaster/quartermaster.yaml", "/usr/bin/quartermaster"],
      "/usr/lib/systemd/system/quartermaster.service",
      ...["/usr/lib/sysusers.d/quartermaster.conf", "/usr/lib/tmpfiles.d/quartermaster.conf"],
      "/usr/share/doc/quartermaster/handbook/install.md",
      ...["/usr/share/doc/quartermaster/sbom.cdx.json", "/usr/share/man/man1/quartermaster.1.gz"],
    ];
    const ofDeb = [
      "/usr/share/doc/quartermaster/copyright",
      "/usr/share/zsh/vendor-completions/_quartermaster",
    ];
    const ofRpm = [
      "/usr/share/licenses/quartermaster/LICENSE",
      "/usr/share/zsh/site-functions/_quartermaster",
    ];
    expect(placesOf(deb).toSorted()).toEqual([...common, ...ofDeb].sort());
    expect(placesOf(rpm).toSorted()).toEqual([...common, ...ofRpm].sort());
    expect(entryOf(deb, "/usr/bin/quartermaster")).toMatchObject({
      file_info: { mode: 0o755, owner: "root" },
    });
    expect(entryOf(rpm, "/usr/share/doc/quartermaster/handbook")).toMatchObject({ type: "dir" });
  });

  const scripts = [DEB_SCRIPTLETS, rpmScriptlets("u quartermaster\n")].flatMap((one) => Object.values(one));
  test("have scripts for sh that enable, start and delete nothing", () => {
    for (const script of scripts) {
      expect(Bun.spawnSync(["sh", "-n"], { stdin: Buffer.from(script) }).exitCode).toBe(0);
      expect(script).not.toMatch(/(?<!try-)\b(?:start|restart|enable|preset|rm|userdel|deluser)\b/);
    }
  });

  test("fail with the output of nfpm, and leave no package behind", () => {
    const silent = { ...sources, facts: { ...sources.facts, version: "2" } };
    const failing = nfpmThat("failing", 'touch "$7/half.$5"; echo "no such field" >&2; exit 3');
    const place = join(directory, "empty");
    mkdirSync(place);
    expect(() => makePackages(silent, { nfpm: failing, directory: place, work: directory })).toThrow(
      /ended with 3:\nno such field/,
    );
    expect(readdirSync(place)).toEqual([]);
  });

  test("lists the packages in the one signed list of a release", () => {
    const signer = newSigner();
    signRelease(directory, made, signer);
    const { exitCode } = Bun.spawnSync(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], {
      cwd: directory,
    });
    expect(exitCode).toBe(0);
    const listed = readFileSync(join(directory, "SHA256SUMS"), "utf8").match(/\S+$/gm);
    expect(listed).toEqual(["quartermaster.deb", "quartermaster.rpm", "release-key.pub"]);
  });
});
