// Where a package installs the files of a release. scriptlets.ts has the scripts that it runs; nfpm.ts builds it.
import { gzipSync } from "node:zlib";

export type PackageFormat = "deb" | "rpm";

export const EXECUTABLE_PLACE = "/usr/bin/quartermaster";
export const DATA_PLACE = "/var/lib/quartermaster";
export const INSTALLED_CONFIG = "/etc/quartermaster/quartermaster.yaml";
export const SYSUSERS_FILE = "/usr/lib/sysusers.d/quartermaster.conf";
const DOCUMENTS = "/usr/share/doc/quartermaster/";

export interface PackagedFile {
  bytes: Uint8Array;
  mode: number;
  /** root by default */
  group?: string;
  /** a changed one is never replaced */
  isConfig?: boolean;
}

/** A command such as `takeover` may need the directory before systemd makes it at the first start. */
const TMPFILES = `d ${DATA_PLACE} 0700 quartermaster quartermaster -\n`;

/** Installed places of the files of a release, by their name in the release. */
const PLACES: Readonly<Record<string, string>> = {
  "quartermaster.sysusers.conf": SYSUSERS_FILE,
  "completions/quartermaster.bash": "/usr/share/bash-completion/completions/quartermaster",
  "completions/quartermaster.fish": "/usr/share/fish/vendor_completions.d/quartermaster.fish",
};

const PLACES_BY_FORMAT: Readonly<Record<PackageFormat, Readonly<Record<string, string>>>> = {
  deb: {
    "completions/_quartermaster": "/usr/share/zsh/vendor-completions/_quartermaster",
    LICENSE: `${DOCUMENTS}copyright`,
  },
  rpm: {
    "completions/_quartermaster": "/usr/share/zsh/site-functions/_quartermaster",
    LICENSE: "/usr/share/licenses/quartermaster/LICENSE",
  },
};

/** Files about the archive itself, and files that the package has in another form. */
const LEFT_OUT =
  /^(?:VERIFY\.md|SHA256SUMS.*|release-key\.pub|quartermaster\.service|example\/quartermaster\.yaml)$/;

export interface PackageContent {
  /** the files of the archive by name */
  files: ReadonlyMap<string, Uint8Array>;
  /** the unit that starts EXECUTABLE_PLACE */
  unit: string;
  /** the configuration file */
  config: string;
}

/** @returns the files of the package by their absolute path */
export function packagedFiles(
  format: PackageFormat,
  { files, unit, config }: PackageContent,
): ReadonlyMap<string, PackagedFile> {
  const packaged = new Map<string, PackagedFile>();
  const addText = (path: string, text: string) =>
    packaged.set(path, { bytes: Buffer.from(text), mode: 0o644 });
  addText("/usr/lib/systemd/system/quartermaster.service", unit);
  addText("/usr/lib/tmpfiles.d/quartermaster.conf", TMPFILES);
  packaged.set(INSTALLED_CONFIG, {
    bytes: Buffer.from(config),
    mode: 0o640,
    group: "quartermaster",
    isConfig: true,
  });
  for (const [name, bytes] of files) {
    if (name === "quartermaster") packaged.set(EXECUTABLE_PLACE, { bytes, mode: 0o755 });
    else if (name === "quartermaster.1")
      packaged.set("/usr/share/man/man1/quartermaster.1.gz", { bytes: gzipSync(bytes), mode: 0o644 });
    else if (!LEFT_OUT.test(name))
      packaged.set(PLACES_BY_FORMAT[format][name] ?? PLACES[name] ?? DOCUMENTS + name, {
        bytes,
        mode: 0o644,
      });
  }
  return packaged;
}
