// Counts what lists show of a reported inventory: how many harnesses and packages are in order, and which versions are
// installed. Counting happens when a report is evaluated, so that no list reads an inventory.
import { isJsonObject } from "../../platform/json/json-object.ts";
import { COUNTED_VERSION_LENGTH_MAX } from "./limits.ts";
import type { Reported } from "./model.ts";
import { harnessNameOf } from "./report.ts";
import { APPLIED, reportedVersionOf } from "./verdict/verdict.ts";

export interface InventoryFigures {
  /** number of reported harnesses that are installed and allowed */
  harnessesWanted: number;
  /** number of those that are in order; an entry that is only a name counts */
  harnessesReconciled: number;
  packagesReported: number;
  packagesApplied: number;
  /** JSON list of [harness, version], sorted; the version is empty if it is unreadable */
  harnessVersions: string;
}

export function figuresOf({
  harnesses,
  packages,
}: Pick<Reported, "harnesses" | "packages">): InventoryFigures {
  const wanted = harnesses.filter(isWanted);
  return {
    harnessesWanted: wanted.length,
    harnessesReconciled: wanted.filter((entry) => !isJsonObject(entry) || entry.reconciled === true).length,
    packagesReported: packages.length,
    packagesApplied: packages.filter((entry) => isJsonObject(entry) && entry.state === APPLIED).length,
    harnessVersions: versionsText(harnesses),
  };
}

const isWanted = (entry: unknown): boolean =>
  !isJsonObject(entry) || (entry.installed !== false && entry.api_allowed !== false);

/** If two entries have the same name, the first counts. */
function versionsText(harnesses: readonly unknown[]): string {
  const versions = new Map<string, string>();
  for (const entry of harnesses) {
    const name = harnessNameOf(entry);
    if (name === undefined || versions.has(name) || (isJsonObject(entry) && entry.installed === false))
      continue;
    const version = isJsonObject(entry) ? reportedVersionOf(entry) : "";
    versions.set(name, version.length > COUNTED_VERSION_LENGTH_MAX ? "" : version);
  }
  return JSON.stringify([...versions].sort(([one], [other]) => (one < other ? -1 : 1)));
}
