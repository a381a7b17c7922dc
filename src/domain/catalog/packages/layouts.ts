// The adapters of a package: for each harness an availability, a fallback layout and variants. Checks that each layout has only
// components that its harness accepts, and that paths stay inside the archive.

import { ObjectReader, type Place, readText } from "../../../platform/text/object-reader.ts";
import { type ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import {
  acceptsComponents,
  COMPONENTS,
  type Component,
  getHarness,
  type HarnessKey,
  isHarnessKey,
  refusalsOf,
  unknownHarness,
} from "../../harnesses/harnesses.ts";
import {
  HELPERS_MAX,
  type ManagedPackage,
  PATH_BYTES_MAX,
  PATH_COMPONENTS_MAX,
  type PackageAdapter,
  type PackageAdapterVariant,
  type PackageLayout,
  PLATFORMS_MAX,
  PLUGINS_MAX,
  type PlatformAsset,
  VARIANTS_MAX,
} from "../model.ts";
import {
  checkCoverage,
  checkInside,
  checkOrder,
  checkOverlap,
  type Interval,
  type PlacedInterval,
  readAvailability,
  readVariantInterval,
} from "./version-intervals.ts";

const PATH_MEMBERS = ["plugin_dir", "skills_dir", "agents_dir", "hooks_file"] as const;
const BOUND_MEMBERS = ["introduced", "before"];
const ADAPTER_MEMBERS = [...BOUND_MEMBERS, ...COMPONENTS, "variants"];
const VARIANT_MEMBERS = [...BOUND_MEMBERS, "version_requirement", ...COMPONENTS];
export const ADAPTERS_MAX = 64;

/** @returns why clients cannot unpack this path of an archive; undefined if they can (handbook: catalog-file, Paths) */
const pathProblem = (path: string): string | undefined => {
  if (path === "") return "is empty; write . for the root of the archive";
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `has more than ${PATH_BYTES_MAX} bytes`;
  if (path.startsWith("/")) return `${quoted(path)} must be relative to the root of the archive`;
  if (/[\\:]/.test(path)) return `${quoted(path)} must not contain a backslash or a colon`;
  const parts = path.split("/");
  if (parts.includes("..")) return `${quoted(path)} must not lead out of its folder with ..`;
  return parts.length > PATH_COMPONENTS_MAX ? `has more than ${PATH_COMPONENTS_MAX} components` : undefined;
};

const readPath = (place: Place, problems: ProblemList): string | undefined => {
  const path = readText(place, problems, PATH_BYTES_MAX);
  const fault = path === undefined ? undefined : pathProblem(path);
  if (fault) problems.add(place.pointer, fault);
  return path;
};

const readAsset = (place: Place, problems: ProblemList): PlatformAsset => {
  const paths: Record<string, string> = {};
  for (const [platform, entry] of ObjectReader.read(place, problems, ["paths"])?.entries(
    "paths",
    PLATFORMS_MAX,
  ) ?? []) {
    const path = readPath(entry, problems);
    if (path !== undefined) paths[platform] = path;
  }
  return { paths };
};

/** A helper becomes a file of this name in a folder of the workstation's PATH, so the name must not leave that folder. */
const isCommandName = (name: string): boolean =>
  name !== "." && name !== ".." && !/[/\\\p{Cc}]/u.test(name) && name.isWellFormed();

const readHelpers = (members: ObjectReader): PackageLayout["helpers"] => {
  const helpers: PackageLayout["helpers"] = {};
  for (const [name, place] of members.entries("helpers", HELPERS_MAX)) {
    if (!isCommandName(name))
      members.problems.add(
        place.pointer,
        `${quoted(name)} cannot be the name of a command; leave out slashes`,
      );
    helpers[name] = readAsset(place, members.problems);
  }
  return helpers;
};

const readLayout = (members: ObjectReader): PackageLayout => {
  const layout: Partial<Record<(typeof PATH_MEMBERS)[number], string>> = {};
  for (const name of PATH_MEMBERS) {
    if (!members.has(name)) continue;
    const path = readPath({ value: members.value(name), pointer: members.at(name) }, members.problems);
    if (path !== undefined) layout[name] = path;
  }
  const plugins = members
    .items("plugins", PLUGINS_MAX)
    .flatMap((item) => readPath(item, members.problems) ?? []);
  return { ...layout, plugins, helpers: readHelpers(members) };
};

export const componentsOf = (layout: PackageLayout): Set<Component> => {
  const present: Component[] = PATH_MEMBERS.filter((name) => layout[name] !== undefined);
  if (layout.plugins.length > 0) present.push("plugins");
  if (Object.keys(layout.helpers).length > 0) present.push("helpers");
  return new Set(present);
};

/** Reports components that no generation of the harness accepts together; the newest generation gives the reason. */
const checkComponents = (members: ObjectReader, key: HarnessKey, layout: PackageLayout): void => {
  const { label, generations } = getHarness(key);
  const components = componentsOf(layout);
  const newest = generations.at(-1);
  if (!newest || generations.some((generation) => acceptsComponents(generation, components))) return;
  members.report(`no version of ${label} accepts this layout: ${refusalsOf(newest, components).join(", ")}`);
};

interface AdapterContext {
  key: HarnessKey;
  availability: Interval | undefined;
  problems: ProblemList;
}

interface ReadVariant {
  variant: PackageAdapterVariant;
  placed: PlacedInterval;
}

const readVariant = (
  place: Place,
  earlier: readonly PlacedInterval[],
  context: AdapterContext,
): ReadVariant | undefined => {
  const { key, availability, problems } = context;
  const members = ObjectReader.read(place, problems, VARIANT_MEMBERS);
  if (!members) return undefined;
  const interval = readVariantInterval(members);
  const placed = interval && { ...interval, pointer: place.pointer };
  if (placed && availability) checkInside(problems, placed, availability);
  if (placed) checkOverlap(problems, placed, earlier);
  const layout = readLayout(members);
  checkComponents(members, key, layout);
  if (!placed) return undefined;
  const before = placed.before === null ? {} : { before: placed.before.raw };
  return { variant: { introduced: placed.introduced.raw, ...before, ...layout }, placed };
};

/** @returns the variants; their relations are checked only if each of them is valid */
const readVariants = (places: readonly Place[], hasFallback: boolean, context: AdapterContext) => {
  const { availability, problems } = context;
  const found: ReadVariant[] = [];
  const placed: PlacedInterval[] = [];
  const problemsBefore = problems.count;
  for (const place of places) {
    const read = readVariant(place, placed, context);
    if (!read) continue;
    found.push(read);
    placed.push(read.placed);
  }
  checkOrder(problems, placed);
  if (!hasFallback && availability && problems.count === problemsBefore)
    checkCoverage(problems, placed, availability);
  return found.map(({ variant }) => variant);
};

const readAdapter = (place: Place, key: HarnessKey, problems: ProblemList): PackageAdapter | undefined => {
  const members = ObjectReader.read(place, problems, ADAPTER_MEMBERS);
  if (!members) return undefined;
  const availability = readAvailability(members);
  const layout = readLayout(members);
  const variants = readVariants(members.items("variants", VARIANTS_MAX), componentsOf(layout).size > 0, {
    key,
    availability,
    problems,
  });
  checkComponents(members, key, layout);
  const bounds = {
    ...(members.has("introduced") && availability ? { introduced: availability.introduced.raw } : {}),
    ...(availability?.before ? { before: availability.before.raw } : {}),
  };
  return { ...bounds, ...layout, ...(variants.length > 0 ? { variants } : {}) };
};

/** Reads `adapters` of a package. @returns the valid ones in the shape of the response, by harness */
export const readAdapters = (members: ObjectReader): ManagedPackage["adapters"] => {
  const adapters: ManagedPackage["adapters"] = {};
  for (const [name, place] of members.entries("adapters", ADAPTERS_MAX)) {
    if (!isHarnessKey(name)) {
      members.problems.add(place.pointer, unknownHarness(name));
      continue;
    }
    const adapter = readAdapter(place, name, members.problems);
    if (adapter) adapters[name] = adapter;
  }
  return adapters;
};
