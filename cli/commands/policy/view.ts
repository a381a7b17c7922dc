// Formats revisions and the differences between them.
import type { Change, Revision, RevisionSummary } from "../../../src/domain/governance/service.ts";
import { timeOf } from "../../output/details.ts";
import { printable } from "../../output/printable.ts";
import type { Column } from "../../output/table.ts";

/** Longer values are cut; `--json` prints them in full. */
export const VALUE_CHARACTERS_MAX = 100;

export const REVISION_COLUMNS: readonly Column<RevisionSummary>[] = [
  { header: "NUMBER", value: ({ sequence }) => sequence },
  { header: "PUBLISHED", value: ({ createdAtMs }) => new Date(createdAtMs) },
  { header: "ORIGIN", value: ({ origin }) => origin },
  { header: "BY", value: ({ authorLabel }) => authorLabel },
  { header: "COMMENT", value: ({ comment }) => comment },
  { header: "REVISION", value: ({ id }) => id },
];

export const revisionDocument = (revision: RevisionSummary) => ({
  number: revision.sequence,
  revision: revision.id,
  created_at: timeOf(revision.createdAtMs),
  created_by: revision.authorLabel,
  origin: revision.origin,
  comment: revision.comment,
  summary: revision.summary,
});

/** @returns one line per path: added (`+`), changed (`~`) or removed (`-`) */
export const changeLines = (changes: readonly Change[]): string[] =>
  changes.map((change) => {
    const { before, after } = change;
    const path = change.order ? `${change.path} (order)` : change.path;
    if (!("before" in change)) return `+ ${path}: ${valueText(after)}`;
    if (!("after" in change)) return `- ${path}: ${valueText(before)}`;
    return `~ ${path}: ${valueText(before)} -> ${valueText(after)}`;
  });

/** @returns `revision 4` */
export const numberText = ({ sequence }: Pick<Revision, "sequence">): string => `revision ${sequence}`;

/** @returns the value as JSON on one line, cut after VALUE_CHARACTERS_MAX; `none` without a value */
export function valueText(value: unknown): string {
  if (value === undefined) return "none";
  const text = printable(JSON.stringify(value));
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
}
