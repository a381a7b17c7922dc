// The rules of a package list, the same for the catalog and for published policies. All problems are reported together; valid
// packages are returned in the form of API responses. layouts.ts checks adapters, catalog-document.ts files.

import type { Problem } from "../../../platform/errors.ts";
import { UUID_PATTERN } from "../../../platform/ids.ts";
import { jsonTypeOf, ObjectReader, type Place } from "../../../platform/text/object-reader.ts";
import { ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import { readFreeFormObject } from "../../shared/free-form-object.ts";
import {
  ID_CHARACTERS_MAX,
  ID_PATTERN,
  LABEL_CHARACTERS_MAX,
  type ManagedPackage,
  PACKAGES_MAX,
  type PackageSource,
  PLATFORM_PATTERN,
  PLATFORMS_MAX,
  SHA256_PATTERN,
  SOURCE_REF_CHARACTERS_MAX,
} from "../model.ts";
import { readAdapters } from "./layouts.ts";

const SOURCE_MEMBERS = ["source_ref", "artifact_id", "sha256"];
const PACKAGE_MEMBERS = [
  "id",
  "name",
  "version",
  ...SOURCE_MEMBERS,
  "platform_sources",
  "settings",
  "adapters",
  // Exports name the origin of a mirrored archive; only the digest counts.
  "managed_source",
];

export interface CheckedPackages {
  /** packages without problems, in their order, in the form of API responses */
  packages: ManagedPackage[];
  /** the first problems in order; a last line counts the rest */
  problems: Problem[];
  /** number of all problems, including those beyond the limit */
  problemCount: number;
}

const readSha256 = (members: ObjectReader): string => {
  const digest = members.requiredText("sha256", LABEL_CHARACTERS_MAX);
  if (digest !== undefined && !SHA256_PATTERN.test(digest))
    members.report(
      `must be the SHA-256 of the archive, 64 hexadecimal digits, not ${quoted(digest)}`,
      "sha256",
    );
  return (digest ?? "").toLowerCase();
};

/** @returns the problem of a location that clients fetch themselves, without repeating the location, which may contain credentials */
const sourceRefProblem = (sourceRef: string): string | undefined => {
  if (sourceRef.trim() === "") return "must not be blank";
  if (sourceRef.startsWith("https://"))
    return URL.canParse(sourceRef) ? undefined : "is not a valid https:// URL";
  return sourceRef.startsWith("file://") || !sourceRef.includes("://")
    ? undefined
    : "must be an https:// URL, a file:// URL or a path without a scheme";
};

/** Reads the location and the digest of an archive; with a mirrored archive the location is only informative. */
const readSource = (members: ObjectReader): PackageSource => {
  const sha256 = readSha256(members);
  const artifactId = members.text("artifact_id", LABEL_CHARACTERS_MAX);
  if (artifactId !== undefined && !UUID_PATTERN.test(artifactId))
    members.report(`must be a UUID, not ${quoted(artifactId)}`, "artifact_id");
  const sourceRef = members.requiredText("source_ref", SOURCE_REF_CHARACTERS_MAX);
  const fault =
    sourceRef === undefined || members.has("artifact_id") ? undefined : sourceRefProblem(sourceRef);
  if (fault) members.report(fault, "source_ref");
  const mirrored = artifactId === undefined ? {} : { artifact_id: artifactId.toLowerCase() };
  return { source_ref: sourceRef ?? "", ...mirrored, sha256 };
};

const readPlatformSources = (members: ObjectReader): Record<string, PackageSource> => {
  const sources: Record<string, PackageSource> = {};
  for (const [platform, place] of members.entries("platform_sources", PLATFORMS_MAX)) {
    if (!PLATFORM_PATTERN.test(platform))
      members.problems.add(
        place.pointer,
        `${quoted(platform)} is not a platform such as linux-x86_64; use a-z, 0-9, - and _`,
      );
    const source = ObjectReader.read(place, members.problems, SOURCE_MEMBERS);
    if (source) sources[platform] = readSource(source);
  }
  return sources;
};

const readId = (members: ObjectReader, firstById: Map<string, string>): string => {
  const id = members.requiredText("id", ID_CHARACTERS_MAX);
  if (id === undefined) return "";
  const first = firstById.get(id);
  if (!ID_PATTERN.test(id)) members.report(`${quoted(id)} must be made of a-z, 0-9 and -`, "id");
  if (first === undefined) firstById.set(id, members.place.pointer);
  else members.report(`${quoted(id)} is already the id of the package at ${first}`, "id");
  return id;
};

const readVersion = (members: ObjectReader): string => {
  const version = members.requiredText("version", LABEL_CHARACTERS_MAX);
  if (version?.trim() === "") members.report("must not be blank", "version");
  return version ?? "";
};

const readPackage = (members: ObjectReader, firstById: Map<string, string>): ManagedPackage => {
  const id = readId(members, firstById);
  const name = members.text("name", LABEL_CHARACTERS_MAX);
  const version = readVersion(members);
  const source = readSource(members);
  const platforms = readPlatformSources(members);
  return {
    id,
    ...(name === undefined ? {} : { name }),
    version,
    ...source,
    ...(Object.keys(platforms).length > 0 ? { platform_sources: platforms } : {}),
    settings: readFreeFormObject(members, "settings"),
    adapters: readAdapters(members),
  };
};

/**
 * Checks an untrusted package list: a catalog, or the packages of a policy.
 * @param list parsed JSON or YAML; pointers in the problems start at the list
 * @returns the packages without problems, in their order, in the form of API responses
 * @source handbook: catalog-file, Members; unknown members are refused
 */
export const readPackages = (list: Place, problems: ProblemList): ManagedPackage[] => {
  const packages: ManagedPackage[] = [];
  const firstById = new Map<string, string>();
  for (const place of placesOf(list, problems)) {
    const problemsBefore = problems.count;
    const members = ObjectReader.read(place, problems, PACKAGE_MEMBERS);
    if (!members) continue;
    const checked = readPackage(members, firstById);
    if (problems.count === problemsBefore) packages.push(checked);
  }
  return packages;
};

/** Like readPackages, for a separate list. @returns every package, if there are no problems */
export const checkPackages = (input: unknown): CheckedPackages => {
  const problems = new ProblemList();
  const packages = readPackages({ value: input, pointer: "" }, problems);
  return { packages, problems: problems.list(), problemCount: problems.count };
};

const placesOf = ({ value, pointer }: Place, problems: ProblemList): Place[] => {
  if (!Array.isArray(value)) problems.add(pointer, `must be a list of packages, not ${jsonTypeOf(value)}`);
  else if (value.length > PACKAGES_MAX)
    problems.add(pointer, `holds ${value.length} packages; the limit is ${PACKAGES_MAX}`);
  else return value.map((item: unknown, index) => ({ value: item, pointer: `${pointer}/${index}` }));
  return [];
};
