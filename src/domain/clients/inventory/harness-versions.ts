// Counts workstations by installed harness version: adds up the lists that inventory-figures.ts made from each report.
import { COUNTED_VERSIONS_MAX } from "../limits.ts";

export interface HarnessVersionCount {
  harness: string;
  /** as reported; empty if unreadable */
  version: string;
  clients: number;
}

export interface HarnessVersions {
  /** by harness, most frequent version first; at most COUNTED_VERSIONS_MAX */
  versions: readonly HarnessVersionCount[];
  /** number of versions that are left out */
  more: number;
  /** number of workstations whose report is not counted yet */
  uncounted: number;
}

/** @param counts number of workstations by list; null for reports that are not counted yet */
export function harnessVersionsIn(counts: ReadonlyMap<string | null, number>): HarnessVersions {
  const sums = new Map<string, HarnessVersionCount>();
  for (const [list, clients] of counts) {
    const pairs: [string, string][] = list === null ? [] : JSON.parse(list);
    for (const [harness, version] of pairs) {
      const key = JSON.stringify([harness, version]);
      sums.set(key, { harness, version, clients: (sums.get(key)?.clients ?? 0) + clients });
    }
  }
  const frequent = [...sums.values()]
    .sort((one, other) => other.clients - one.clients)
    .slice(0, COUNTED_VERSIONS_MAX);
  return {
    versions: frequent.sort(inOrder),
    more: sums.size - frequent.length,
    uncounted: counts.get(null) ?? 0,
  };
}

function inOrder(one: HarnessVersionCount, other: HarnessVersionCount): number {
  if (one.harness !== other.harness) return one.harness < other.harness ? -1 : 1;
  return other.clients - one.clients || (one.version < other.version ? -1 : 1);
}
