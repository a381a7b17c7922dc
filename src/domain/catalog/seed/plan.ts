// What seeding would change: the file's entries against the catalog's, by content. Pure; the same plan is shown by a
// dry run and carried out by a real one.
import type { ManagedPackage } from "../model.ts";

/** An entry on one side of a change. */
export interface PackageVersion {
  id: string;
  version: string;
  sha256: string;
}

export interface SeedPlan {
  added: PackageVersion[];
  changed: { from: PackageVersion; to: PackageVersion }[];
  removed: PackageVersion[];
  /** entries whose content stays as it is */
  unchanged: number;
  /** entries only moved: the file has another order */
  moved: number;
}

export interface StoredEntry extends PackageVersion {
  position: number;
  /** the package as JSON text */
  entry: string;
}

export interface PlannedCatalog {
  plan: SeedPlan;
  /** the whole catalog as it will be, in order */
  entries: readonly StoredEntry[];
}

/**
 * Puts the file's entries first, in the file's order, and behind them what the catalog has besides.
 * @param prune drops what the file does not have
 */
export function planSeed(
  current: readonly StoredEntry[],
  wanted: readonly ManagedPackage[],
  { prune }: { prune: boolean },
): PlannedCatalog {
  const before = new Map(current.map((entry) => [entry.id, entry]));
  const named = new Set(wanted.map(({ id }) => id));
  const others = current.filter(({ id }) => !named.has(id));
  const entries = [...wanted.map(toStored), ...(prune ? [] : others)].map((entry, position) => ({
    ...entry,
    position,
  }));
  const plan: SeedPlan = {
    added: [],
    changed: [],
    removed: prune ? others.map(versionOf) : [],
    unchanged: 0,
    moved: 0,
  };
  for (const entry of entries) {
    const known = before.get(entry.id);
    if (!known) plan.added.push(versionOf(entry));
    else if (known.entry !== entry.entry) plan.changed.push({ from: versionOf(known), to: versionOf(entry) });
    else plan.unchanged += 1;
    if (known && known.entry === entry.entry && known.position !== entry.position) plan.moved += 1;
  }
  return { plan, entries };
}

export const isUnchanged = ({ added, changed, removed, moved }: SeedPlan): boolean =>
  added.length + changed.length + removed.length + moved === 0;

const versionOf = ({ id, version, sha256 }: PackageVersion): PackageVersion => ({ id, version, sha256 });

const toStored = (managed: ManagedPackage): Omit<StoredEntry, "position"> => ({
  ...versionOf(managed),
  entry: JSON.stringify(managed),
});
