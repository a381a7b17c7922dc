// A seed plan as people read it: one line of counts, or one line for each entry with its digest.
import type { SeedPlan } from "../src/domain/catalog/service.ts";

/** @returns `2 added, 1 changed`, or `unchanged` with the number of packages */
export function planInWords({ added, changed, removed, moved, unchanged }: SeedPlan): string {
  const counts = [
    [added.length, "added"],
    [changed.length, "changed"],
    [removed.length, "removed"],
    [moved, "moved"],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  if (parts.length > 0) return parts.join(", ");
  return `unchanged (${unchanged} ${unchanged === 1 ? "package" : "packages"})`;
}
