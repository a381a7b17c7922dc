// Warns about sources in a package list that are allowed but may not work on workstations: URLs that clients refuse, files that
// must exist on every workstation, and platforms that no client requests.
import { isIP } from "node:net";
import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { isLocalName, isPublicAddress } from "../../../platform/outbound/public-hosts.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import { fetchedSourcesOf } from "../archive/local-archives.ts";
import type { ManagedPackage, PackageLayout, PackageSource } from "../model.ts";

/** `<os>-<arch>` of all workstation clients. */
export const CLIENT_PLATFORMS = ["linux", "macos", "windows"].flatMap((os) =>
  ["x86_64", "aarch64"].map((architecture) => `${os}-${architecture}`),
);

export interface WarningOptions {
  /** the warning for a file source; undefined if its archive is stored here */
  local?: string;
}

/** See `findSourceWarnings`. */
export const sourceWarnings = (packages: readonly ManagedPackage[], options?: WarningOptions): Problem[] =>
  runSynchronously(findSourceWarnings(packages, options));

/** @returns one warning for each place, with pointers into the list; never the URL, which may contain credentials */
export function* findSourceWarnings(
  packages: readonly ManagedPackage[],
  { local }: WarningOptions = {},
): Steps<Problem[]> {
  const warnings: Problem[] = [];
  for (const [index, managed] of packages.entries()) {
    for (const { source, at } of fetchedSourcesOf(managed, index))
      for (const detail of sourceProblems(source, local))
        warnings.push({ pointer: pointerOf([...at, "source_ref"]), detail });
    warnings.push(...platformWarnings(managed, index));
    yield;
  }
  return warnings;
}

/** A % without two hexadecimal digits: RFC 3986 section 2.1. */
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

/** Clients use the location only if we have no artifact. */
function sourceProblems({ artifact_id, source_ref }: PackageSource, local: string | undefined): string[] {
  if (artifact_id !== undefined) return [];
  if (!source_ref.startsWith("https://")) return local === undefined ? [] : [local];
  const url = URL.parse(source_ref);
  if (!url) return [];
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isPrivate = isLocalName(host) || (isIP(host) !== 0 && !isPublicAddress(host));
  return [
    ...(url.username || url.password ? ["holds a user name or password, which workstations refuse"] : []),
    ...(BAD_ESCAPE.test(source_ref)
      ? ["has a % without two hexadecimal digits after it; write a % as %25"]
      : []),
    ...(source_ref.includes("#") ? ["has a fragment, which workstations refuse"] : []),
    ...(isPrivate ? ["names a host that is not public, which workstations refuse"] : []),
  ];
}

const platformWarnings = ({ platform_sources, adapters }: ManagedPackage, index: number): Problem[] => [
  ...unrequestedPlatforms(platform_sources ?? {}, [index, "platform_sources"]),
  ...Object.entries(adapters).flatMap(([harness, adapter]) => [
    ...helperWarnings(adapter, [index, "adapters", harness]),
    ...(adapter.variants ?? []).flatMap((variant, at) =>
      helperWarnings(variant, [index, "adapters", harness, "variants", at]),
    ),
  ]),
];

const helperWarnings = ({ helpers }: PackageLayout, at: readonly (string | number)[]): Problem[] =>
  Object.entries(helpers).flatMap(([command, { paths }]) =>
    unrequestedPlatforms(paths, [...at, "helpers", command, "paths"], ["default"]),
  );

const unrequestedPlatforms = (
  byPlatform: Readonly<Record<string, unknown>>,
  at: readonly (string | number)[],
  known: readonly string[] = [],
): Problem[] =>
  Object.keys(byPlatform)
    .filter((platform) => !CLIENT_PLATFORMS.includes(platform) && !known.includes(platform))
    .map((platform) => ({
      pointer: pointerOf([...at, platform]),
      detail: `is a platform that no workstation requests; known are ${CLIENT_PLATFORMS.join(", ")}`,
    }));
