// Rows as text between the service and the writing thread. JSON arrays without names take a tenth of the time of copying
// objects between threads.
import type { RequestRow } from "../record.ts";

/** Every member of a row, in the order of the columns. */
export const ROW_MEMBERS = [
  "id",
  "userId",
  "organizationId",
  "profileId",
  "profileName",
  "occurredAtMs",
  "method",
  "path",
  "model",
  "httpStatus",
  "upstreamLatencyMs",
  "harness",
  "repository",
  "branch",
  "commitSha",
  "dirty",
  "runId",
  "claimed",
  "requestId",
  "durationMs",
  "firstByteMs",
  "requestBytes",
  "responseBytes",
  "stream",
  "outcome",
  "refusal",
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "usageSource",
  "upstreamCost",
] as const satisfies readonly (keyof RequestRow)[];

/** A row in the queue. */
export interface QueuedRow {
  row: RequestRow;
  /** does not complete a row with the same id */
  isOnlyNew: boolean;
}

/** The values of one row, followed by 1 if it must not complete an earlier one. */
export type RowValues = readonly (string | number | boolean | null)[];

/** @returns the text of rows */
export const textOfRows = (rows: readonly QueuedRow[]): string => JSON.stringify(rows.map(valuesOf));

function valuesOf({ row, isOnlyNew }: QueuedRow): RowValues {
  const values: (string | number | boolean | null)[] = ROW_MEMBERS.map((member) => row[member]);
  values.push(isOnlyNew ? 1 : 0);
  return values;
}

/** @returns the rows of such a text */
export const rowsInText = (text: string): readonly RowValues[] => JSON.parse(text);
