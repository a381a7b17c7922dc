// Lists the third-party packages inside the executable, from the bundler's own output, with their license texts and the digests
// pinned in the lock file. sbom.ts and release/texts.ts render the list.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { invariant } from "../../platform/errors.ts";

export interface BundledPackage {
  name: string;
  version: string;
  /** SPDX expression from the package */
  license: string;
  /** undefined if the package contains no license text */
  licenseText: string | undefined;
  /** SHA-512 of the package's archive in the registry, in hexadecimal */
  sha512: string;
  /** `name@version` of the packages it imports */
  imports: string[];
}

const LICENSE_FILE = /^(?:licen[cs]e|copying)(?:\.(?:md|txt))?$/i;
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+\//;

/** Input of one bundler output. */
export interface Bundle {
  /** entry points, relative to the root of the repository */
  entries: readonly string[];
  target: "bun" | "browser";
}

/**
 * @param root of the repository, with its packages installed
 * @returns the packages of all bundles by name and version
 * @throws Error if the bundler fails, or if a package differs from the lock file
 */
export async function bundledPackages(root: string, bundles: readonly Bundle[]): Promise<BundledPackage[]> {
  const inputs = (await Promise.all(bundles.map((bundle) => inputsOf(root, bundle)))).flat();
  const pinned = pinnedIn(join(root, "bun.lock"));
  const found = new Map<string, BundledPackage>();
  for (const [path, { imports }] of inputs) {
    const folder = folderOf(path);
    if (folder === undefined) continue;
    const known = found.get(folder) ?? packageIn(join(root, folder), pinned);
    found.set(folder, known);
    const others = imports.map((imported) => folderOf(imported.path)).filter((other) => other !== folder);
    known.imports.push(...others.filter((other) => other !== undefined));
  }
  const identOf = (folder: string) => {
    const target = found.get(folder);
    return target ? [identityOf(target)] : [];
  };
  return [...found.values()]
    .map((bundled) => ({ ...bundled, imports: [...new Set(bundled.imports.flatMap(identOf))].sort() }))
    .sort((one, other) => (identityOf(one) < identityOf(other) ? -1 : 1));
}

/** @returns `name@version` */
export const identityOf = ({ name, version }: Pick<BundledPackage, "name" | "version">): string =>
  `${name}@${version}`;

const folderOf = (path: string): string | undefined => PACKAGE_FOLDER.exec(path)?.[0];

async function inputsOf(root: string, { entries, target }: Bundle) {
  const built = await Bun.build({
    entrypoints: entries.map((entry) => join(root, entry)),
    root,
    target,
    metafile: true,
    splitting: true,
  });
  invariant(built.metafile, "the bundler reports its inputs");
  return Object.entries(built.metafile.inputs);
}

function packageIn(folder: string, pinned: ReadonlyMap<string, string>): BundledPackage {
  const { name, version, license, licenses } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const sha512 = pinned.get(`${name}@${version}`);
  if (sha512 === undefined) throw new Error(`${name} ${version} is not in bun.lock: run bun install`);
  const named: unknown = license ?? licenses?.[0]?.type; // older packages have a list
  if (typeof named !== "string") throw new Error(`${name} ${version} does not name its license`);
  return { name, version, license: named, licenseText: licenseTextIn(folder), sha512, imports: [] };
}

function licenseTextIn(folder: string): string | undefined {
  const file = readdirSync(folder).find((entry) => LICENSE_FILE.test(entry));
  return file !== undefined && existsSync(join(folder, file))
    ? readFileSync(join(folder, file), "utf8")
    : undefined;
}

/** @returns the pinned digests by `name@version` */
function pinnedIn(path: string): Map<string, string> {
  const lock: unknown = Bun.JSONC.parse(readFileSync(path, "utf8"));
  const packages: unknown[] = Object.values(Object(Object(lock).packages));
  return new Map(
    packages.flatMap((entry): [string, string][] => {
      if (!Array.isArray(entry)) return [];
      const [identity, integrity]: unknown[] = [entry[0], entry.at(-1)];
      const digest = typeof integrity === "string" ? /^sha512-(.+)$/.exec(integrity)?.[1] : undefined;
      return typeof identity === "string" && digest
        ? [[identity, Buffer.from(digest, "base64").toString("hex")]]
        : [];
    }),
  );
}
