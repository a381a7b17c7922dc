// Adds requests to the log and the sums of an installation, like a service that forwards them.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { openLogFile } from "../../../src/domain/inference/log/log-file-store.ts";
import type { Gap } from "../../../src/domain/inference/log/model.ts";
import type { RequestRow } from "../../../src/domain/inference/log/record.ts";
import { rowsInText, textOfRows } from "../../../src/domain/inference/log/writing/row-text.ts";
import { RowWriter } from "../../../src/domain/inference/log/writing/rows-store.ts";
import type { Workspace } from "../in-process.ts";

/** Writes to the log of a data directory. */
export function logOn(
  { data }: Pick<Workspace, "data">,
  rows: readonly RequestRow[],
  gaps: readonly Gap[] = [],
): void {
  using connection = openLogFile(join(data, "request-logs.db"));
  const queued = rows.map((row) => ({ row, isOnlyNew: false }));
  new RowWriter(connection).write(rowsInText(textOfRows(queued)), gaps);
}

/** Adds the usage of a user on a day. */
export function useOn(
  { data }: Pick<Workspace, "data">,
  use: { userId: string; day: number; model: string },
): void {
  using database = new Database(join(data, "quartermaster.db"));
  database
    .query(
      `INSERT INTO inference_usage SELECT id, ?, ?, ?, 'codex', 3, 1, 3000, 600, 30, 60, 0.75 FROM organizations`,
    )
    .run(use.day, use.userId, use.model);
}

/** @returns the id of the one user of a new installation */
export function userOn({ data }: Pick<Workspace, "data">): string {
  using database = new Database(join(data, "quartermaster.db"), { readonly: true });
  return database.query<{ id: string }, []>("SELECT id FROM users").get()?.id ?? "";
}
