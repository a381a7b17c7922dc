// Plans what seeding would change: compares the content of the file's entries with the catalog. A dry run shows the plan, and a
// real run applies it.
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
  /** entries whose content stays the same */
  unchanged: number;
  /** entries that only move, because the file has another order */
  moved: number;
}

export interface WantedEntry extends PackageVersion {
  /** the package as JSON text */
  entry: string;
}

export interface StoredEntry extends WantedEntry {
  position: number;
}

export interface PlannedCatalog {
  plan: SeedPlan;
  /** the whole resulting catalog, in order */
  entries: readonly StoredEntry[];
}

/**
 * Puts the entries of the file first, in the order of the file, followed by the other entries of the catalog.
 * @param prune drops entries that the file does not have
 */
export function planSeed(
  current: readonly StoredEntry[],
  wanted: readonly WantedEntry[],
  { prune }: { prune: boolean },
): PlannedCatalog {
  const before = new Map(current.map((entry) => [entry.id, entry]));
  const named = new Set(wanted.map(({ id }) => id));
  const others = current.filter(({ id }) => !named.has(id));
  const entries = [...wanted, ...(prune ? [] : others)].map((entry, position) => ({
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

export const versionOf = ({ id, version, sha256 }: PackageVersion): PackageVersion => ({
  id,
  version,
  sha256,
});
