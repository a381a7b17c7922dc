// Actions on many rows: a selection of ids, or everything that a filter matches, handled in slices. Each area has its own rules for one
// row; every interface shows the same result for all of them.
import { Type } from "@sinclair/typebox";
import type { Problem } from "../../platform/errors.ts";

/** Maximum number of ids in one selection, and of rows in one slice of a filter. */
export const BULK_ROWS_MAX = 100;

/** The outcome of one row. */
export interface BulkRow {
  id: string;
  /** readable name of the row; undefined for a row that does not exist */
  name: string | undefined;
  result: "done" | "unchanged" | "refused";
  /** why it is unchanged or refused, or what else changes with it, as a clause */
  why?: string;
}

export interface BulkSlice {
  rows: readonly BulkRow[];
  /** cursor of the next slice; null at the end */
  next: string | null;
}

/** @returns each id once, in lower case, as stored; UUID input is case-insensitive (RFC 9562 section 4) */
export function readBulkIds(ids: readonly string[], problems: Problem[]): string[] {
  const different = [...new Set(ids.map((id) => id.toLowerCase()))];
  if (different.length === 0 || different.length > BULK_ROWS_MAX)
    problems.push({ pointer: "/ids", detail: `ids must have 1 to ${BULK_ROWS_MAX} entries, or use filter` });
  return different;
}

/** The result of one slice in the API. */
export const BulkResult = Type.Object({
  dry_run: Type.Boolean({ description: "Nothing was changed; each result shows what would happen" }),
  matching: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: "Number of rows in the selection; null for a later slice, which does not count again",
  }),
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.Union([Type.String(), Type.Null()], { description: "null for a row that does not exist" }),
      result: Type.Union([Type.Literal("done"), Type.Literal("unchanged"), Type.Literal("refused")]),
      reason: Type.Union([Type.String(), Type.Null()], {
        description: "why it is unchanged or refused, or what else changes with it",
      }),
    }),
    { maxItems: BULK_ROWS_MAX },
  ),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: "`cursor` of the next slice; null at the end",
  }),
});

/** @returns the result for the API */
export const toBulkResult = (
  { rows, next }: BulkSlice,
  about: { isDryRun: boolean; matching: number | null },
) => ({
  dry_run: about.isDryRun,
  matching: about.matching,
  items: rows.map(({ id, name = null, result, why = null }) => ({ id, name, result, reason: why })),
  next_cursor: next,
});
