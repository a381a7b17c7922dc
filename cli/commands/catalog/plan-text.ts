// Formats seed and import plans: a summary of counts, and one line per package with its digest.
import type { PackageVersion, SeedPlan } from "../../../src/domain/catalog/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { printable } from "../../output/printable.ts";

/** @returns `2 added, 1 changed`, or `unchanged` with the number of packages */
export function planSummary({ added, changed, removed, moved, unchanged }: SeedPlan): string {
  const counts = [
    [added.length, "added"],
    [changed.length, "changed"],
    [removed.length, "removed"],
    [moved, "moved"],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  if (parts.length > 0) return parts.join(", ");
  return `unchanged (${countText(unchanged, "package")})`;
}

/** @returns one line for each entry that is added (`+`), changed (`~`) or removed (`-`) */
export const planLines = ({ added, changed, removed }: SeedPlan): string[] => [
  ...added.map((entry) => `+ ${versionText(entry)}`),
  ...changed.map(changeText),
  ...removed.map((entry) => `- ${versionText(entry)}`),
];

/** @returns the plan as JSON */
export const planDocument = ({ added, changed, removed, moved, unchanged }: SeedPlan) => ({
  added,
  changed,
  removed,
  moved,
  unchanged,
});

/** @returns `review-guide 1.2.0 sha256:…` */
export const versionText = ({ id, version, sha256 }: PackageVersion): string =>
  `${id} ${printable(version)} sha256:${sha256}`;

/** The digest can be the same: settings, layout or archives of other platforms may have changed. */
function changeText({ from, to }: SeedPlan["changed"][number]): string {
  const version = from.version === to.version ? to.version : `${from.version} -> ${to.version}`;
  const before = from.sha256 === to.sha256 ? "same digest" : `was sha256:${from.sha256}`;
  return `~ ${versionText({ ...to, version })} (${before})`;
}
