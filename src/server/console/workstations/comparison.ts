// Compares the report of a workstation with the current policy for its user: by harness, and by package.
import { harnessNameOf } from "../../../domain/clients/report.ts";
import type { ClientView } from "../../../domain/clients/service.ts";
import { APPLIED, reportedVersionOf } from "../../../domain/clients/verdict/verdict.ts";
import type { Explanation } from "../../../domain/governance/service.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";

/** Rows of a table on the page. Reports may have far more; problems come first. */
export const COMPARED_ROWS_MAX = 200;

/** @returns the explanation of the current policy for the harness; undefined for an unknown harness or without a policy */
export type Explain = (harness: string, version: string) => Explanation | undefined;

export interface ComparedHarness {
  name: string;
  /** empty if the reported version could not be read */
  version: string;
  path: string;
  profile: string;
  /** the client's warning about the version */
  error: string;
  isInstalled: boolean;
  isReconciled: boolean;
  wanted: Explanation | undefined;
}

export interface ComparedPackage {
  id: string;
  harness: string;
  /** undefined for a package that is not reported */
  reported: { version: string; digest: string; state: string; error: string } | undefined;
  /** undefined for a package that the policy does not install there */
  wanted: { version: string; line: number | undefined } | undefined;
  isInOrder: boolean;
}

export interface Comparison {
  harnesses: readonly ComparedHarness[];
  /** those that need attention first; at most COMPARED_ROWS_MAX */
  packages: readonly ComparedPackage[];
  /** number of packages that are left out */
  morePackages: number;
}

type Entry = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** @returns the report compared with the current policy */
export function comparisonOf(
  { harnesses, packages }: Pick<ClientView, "harnesses" | "packages">,
  explain: Explain,
): Comparison {
  const compared = harnesses.flatMap((entry) => {
    const name = harnessNameOf(entry);
    return name === undefined ? [] : [comparedHarness(name, isJsonObject(entry) ? entry : {}, explain)];
  });
  const rows = comparedPackages(packages.filter(isJsonObject), compared);
  const sorted = [...rows].sort((one, other) => Number(one.isInOrder) - Number(other.isInOrder));
  return {
    harnesses: compared,
    packages: sorted.slice(0, COMPARED_ROWS_MAX),
    morePackages: Math.max(0, sorted.length - COMPARED_ROWS_MAX),
  };
}

function comparedHarness(name: string, entry: Entry, explain: Explain): ComparedHarness {
  const version = reportedVersionOf(entry);
  return {
    name,
    version,
    path: textOf(entry.path),
    profile: textOf(entry.compatibility_profile),
    error: textOf(entry.compatibility_error) || textOf(entry.compatibility_warning),
    isInstalled: entry.installed !== false,
    isReconciled: entry.reconciled === true || Object.keys(entry).length === 0,
    wanted: explain(name, version),
  };
}

function comparedPackages(
  reported: readonly Entry[],
  harnesses: readonly ComparedHarness[],
): ComparedPackage[] {
  const wanted = new Map(
    harnesses
      .filter(({ isInstalled }) => isInstalled)
      .flatMap(({ name, wanted }) =>
        wanted?.isAllowed === true
          ? wanted.packages
              .filter(({ state }) => state === "installed")
              .map((entry) => [keyOf(entry.id, name), { ...entry, harness: name }] as const)
          : [],
      ),
  );
  const seen = new Set<string>();
  const rows = reported.map((entry): ComparedPackage => {
    const [id, harness] = [textOf(entry.id), textOf(entry.harness)];
    const key = keyOf(id, harness);
    const match = wanted.get(key);
    seen.add(key);
    const { version, state, error } = {
      version: textOf(entry.version),
      state: textOf(entry.state),
      error: textOf(entry.error),
    };
    const isInOrder = state === APPLIED && match?.version === version;
    return {
      id,
      harness,
      reported: { version, digest: textOf(entry.sha256), state, error },
      wanted: match,
      isInOrder,
    };
  });
  const missing = [...wanted]
    .filter(([key]) => !seen.has(key))
    .map(
      ([, { id, harness, ...rest }]): ComparedPackage => ({
        id,
        harness,
        reported: undefined,
        wanted: rest,
        isInOrder: false,
      }),
    );
  return [...missing, ...rows];
}

const keyOf = (id: string, harness: string): string => JSON.stringify([id, harness]);
