// Checks the content of a bundle whose signature and digests are valid: its packages follow the rules of every catalog, its
// archives those of clients, and exactly the needed archives are present. All problems are reported together.
import { type Blobs, parseDigest } from "../../../platform/blobs/blobs.ts";
import { DomainError, type Problem, pointerOf } from "../../../platform/errors.ts";
import { inspectArchive } from "../archive/archive.ts";
import { type CheckedArchive, type FetchedSource, fetchedSourcesOf } from "../archive/local-archives.ts";
import { OutdatedList } from "../archive/stored-archives.ts";
import type { ManagedPackage } from "../model.ts";
import { checkPackages } from "../packages/package-rules.ts";
import { requiredPathsOf } from "../packages/required-paths.ts";
import {
  DOWNLOAD_SCAN_BYTES_MAX,
  DOWNLOADS_LISTED_MAX,
  findRuntimeDownloads,
  type RuntimeDownload,
} from "../sources/runtime-downloads.ts";
import type { ArtifactRow } from "../store.ts";
import { archiveName, type BundleFile, type BundleManifest } from "./bundle-model.ts";
import { type BundledArchive, type ReadBundleOptions, readBundle } from "./bundle-read.ts";

export interface CheckBundleOptions extends ReadBundleOptions {
  blobs: Pick<Blobs, "has">;
  /** @returns the artifact with that digest, if the organization has it */
  findArtifact(digest: string): ArtifactRow | undefined;
}

export interface CheckedBundle {
  manifest: BundleManifest;
  signer: string;
  packages: ManagedPackage[];
  /** by digest */
  archives: Map<string, CheckedArchive>;
  places: ReadonlyMap<string, BundledArchive>;
  /** by package; at most DOWNLOADS_LISTED_MAX per archive */
  fetches: ({ id: string } & RuntimeDownload)[];
  /** rules for new archives that stored archives break */
  warnings: string[];
  totals: { count: number; new: number; sizeBytes: number };
}

const LIST = "/package_catalog/packages";

/**
 * @throws DomainError `bundle.*` of reading, `catalog.invalid` for a list that breaks the rules, `catalog.unverified` for
 *   digests without an archive, archives without a package, and archives that clients would refuse
 */
export async function checkBundle(file: BundleFile, options: CheckBundleOptions): Promise<CheckedBundle> {
  const { manifest, signer, archives: places } = await readBundle(file, options);
  const packages = packagesOf(file, manifest);
  const sources = packages.flatMap(fetchedSourcesOf);
  const missing = await missingDigests(sources, places, options);
  const problems = [...missing, ...unusedArchives(sources, places)];
  const checked = await inspectAll(file, { places, sources, options });
  problems.push(...checked.problems);
  if (problems.length > 0) throw unverified(file.name, problems);
  const { archives, fetches, warnings } = checked;
  const totals = await totalsOf(places, options);
  return { manifest, signer, packages, archives, places, fetches, warnings, totals };
}

function packagesOf(
  file: BundleFile,
  { package_catalog: { packages: list } }: BundleManifest,
): ManagedPackage[] {
  const { packages, problems, problemCount } = checkPackages(list);
  if (problemCount === 0) return packages;
  throw new DomainError(
    "invalid",
    "catalog.invalid",
    `the catalog in ${file.name} has ${problemCount} problems`,
    {
      hint: "a version with other rules exported it; export it with a version that is not newer than this one",
      problems: problems.map(inList),
    },
  );
}

const inList = (problem: Problem): Problem => ({ ...problem, pointer: LIST + problem.pointer });

/** An archive that is not in the bundle must be stored here. */
async function missingDigests(
  sources: readonly FetchedSource[],
  places: ReadonlyMap<string, BundledArchive>,
  { blobs, findArtifact }: CheckBundleOptions,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { source, at } of sources) {
    const { sha256 } = source;
    if (places.has(sha256) || (findArtifact(sha256) && (await blobs.has(parseDigest(sha256))))) continue;
    const detail = `sha256:${sha256} is neither in the bundle nor stored here`;
    problems.push({ pointer: LIST + pointerOf([...at, "sha256"]), detail });
  }
  return problems;
}

function unusedArchives(
  sources: readonly FetchedSource[],
  places: ReadonlyMap<string, BundledArchive>,
): Problem[] {
  const used = new Set(sources.map(({ source }) => source.sha256));
  return [...places.keys()].flatMap((sha256, index) =>
    used.has(sha256) ? [] : [{ pointer: `/archives/${index}`, detail: `no package names sha256:${sha256}` }],
  );
}

interface Inspected {
  archives: Map<string, CheckedArchive>;
  fetches: CheckedBundle["fetches"];
  warnings: string[];
  problems: Problem[];
}

interface ToInspect {
  places: ReadonlyMap<string, BundledArchive>;
  sources: readonly FetchedSource[];
  options: CheckBundleOptions;
}

async function inspectAll(file: BundleFile, { places, sources, options }: ToInspect): Promise<Inspected> {
  const inspected: Inspected = { archives: new Map(), fetches: [], warnings: [], problems: [] };
  const bySource = Map.groupBy(sources, ({ source }) => source.sha256);
  for (const place of places.values()) {
    options.signal?.throwIfAborted();
    try {
      const users = bySource.get(place.sha256) ?? [];
      await inspect(file, {
        place,
        users,
        isStored: options.findArtifact(place.sha256) !== undefined,
        inspected,
      });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      inspected.problems.push(...problemsOf(error, place));
    }
  }
  return inspected;
}

interface OneArchive {
  place: BundledArchive;
  users: readonly FetchedSource[];
  isStored: boolean;
  inspected: Inspected;
}

async function inspect(file: BundleFile, { place, users, isStored, inspected }: OneArchive): Promise<void> {
  const found: RuntimeDownload[] = [];
  const outdated = new OutdatedList();
  const contents = await inspectArchive(file.read(place), {
    requiredPaths: users.flatMap(requiredPathsOf),
    onOutdated: isStored ? outdated.add : undefined,
    onFile: {
      fileBytesMax: DOWNLOAD_SCAN_BYTES_MAX,
      look: (path, bytes) => void found.push(...findRuntimeDownloads(path, bytes)),
    },
  });
  const { sha256, length: sizeBytes } = place;
  inspected.warnings.push(...outdated.texts.map((text) => `${archiveName(sha256)}: ${text}`));
  inspected.archives.set(sha256, { digest: parseDigest(sha256), sizeBytes, path: undefined, ...contents });
  const ids = new Set(users.map(({ managed }) => managed.id));
  for (const id of ids)
    inspected.fetches.push(...found.slice(0, DOWNLOADS_LISTED_MAX).map((fetch) => ({ id, ...fetch })));
}

function problemsOf(error: DomainError, { sha256 }: BundledArchive): Problem[] {
  if (error.problems.length > 0) return error.problems.map(inList);
  const detail = error.hint ? `${error.message}; ${error.hint}` : error.message;
  return [{ pointer: "", detail: `${archiveName(sha256)}: ${detail}` }];
}

function unverified(name: string, problems: readonly Problem[]): DomainError {
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  return new DomainError("unverified", "catalog.unverified", `${name} has ${count}; nothing was changed`, {
    problems,
  });
}

async function totalsOf(
  places: ReadonlyMap<string, BundledArchive>,
  { blobs }: Pick<CheckBundleOptions, "blobs">,
): Promise<CheckedBundle["totals"]> {
  const totals = { count: places.size, new: 0, sizeBytes: 0 };
  for (const { sha256, length } of places.values()) {
    totals.sizeBytes += length;
    if (!(await blobs.has(parseDigest(sha256)))) totals.new += 1;
  }
  return totals;
}
