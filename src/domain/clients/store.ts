// SQL that stores and removes reports and updates their verdicts. inventory/ has lists and lookups.
import { and, asc, desc, eq, getTableColumns, gt, gte, inArray, lt, ne, or, sql } from "drizzle-orm";
import { markTopicChanged } from "../../platform/database/changed-topics.ts";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import {
  changesOf,
  equalAll,
  insertAll,
  named,
  overwriteAll,
  updateAll,
} from "../../platform/database/drizzle.ts";
import { timedRows } from "../../platform/database/maintenance/timed-rows.ts";
import { BATCH_ROWS, CLIENTS_PER_USER_MAX } from "./limits.ts";
import { clientReports } from "./tables.ts";

export type ReportRow = typeof clientReports.$inferSelect;

export const timedReports = timedRows(clientReports, clientReports.lastSeenAtMs);

/** A row keeps its id, owner, installation and first-seen time. Each report overwrites all other columns. */
const {
  id: _id,
  organizationId: _organization,
  userId: _user,
  instanceId: _instance,
  firstSeenAtMs: _first,
  ...changing
} = getTableColumns(clientReports);
const { evaluatedBy, hostname, clientVersion: _clientVersion, ...reported } = changing;

/**
 * The common case: a known installation, evaluated under the same rules, with the same name and version. Takes less than half
 * as long as the upsert, because only one index changes.
 */
const rewrite = statement((connection) =>
  connection
    .update(clientReports)
    .set(updateAll(reported))
    .where(
      and(
        equalAll(clientReports, "userId", "instanceId", "evaluatedBy", "clientVersion"),
        sql`${hostname} IS ${named("hostname")}`,
      ),
    )
    .prepare(),
);

const upsert = statement((connection) =>
  connection
    .insert(clientReports)
    .values(insertAll(clientReports))
    .onConflictDoUpdate({
      target: [clientReports.userId, clientReports.instanceId],
      set: overwriteAll(changing),
    })
    .returning({ id: clientReports.id })
    .prepare(),
);

const deleteSurplus = statement((connection) => {
  const surplus = connection
    .select({ id: clientReports.id })
    .from(clientReports)
    .where(equalAll(clientReports, "userId"))
    .orderBy(desc(clientReports.lastSeenAtMs), desc(clientReports.id))
    .limit(BATCH_ROWS)
    .offset(CLIENTS_PER_USER_MAX);
  return connection.delete(clientReports).where(inArray(clientReports.id, surplus)).prepare();
});

/**
 * Stores a report. The report of a new installation also removes the user's records beyond the CLIENTS_PER_USER_MAX most
 * recently seen ones, up to BATCH_ROWS.
 */
export function put(tx: Tx, row: ReportRow): void {
  const isNew = changesOf(rewrite(tx).run(row)) === 0 && upsert(tx).get(row)?.id === row.id;
  if (!isNew) return;
  markTopicChanged(tx, "client_rows");
  deleteSurplus(tx).run({ userId: row.userId });
}

/** One record, and the organization that it must belong to. */
export interface RowId {
  organizationId: string;
  id: string;
}

const isRow = equalAll(clientReports, "organizationId", "id");

const selectRow = statement((connection) => connection.select().from(clientReports).where(isRow).prepare());

/** @returns the record; undefined for none */
export const find = (connection: Connection, { organizationId, id }: RowId): ReportRow | undefined =>
  selectRow(connection).get({ organizationId, id });

const selectCompanion = statement((connection) =>
  connection
    .select({ id: clientReports.id })
    .from(clientReports)
    .where(and(equalAll(clientReports, "userId", "loginSessionId"), ne(clientReports.id, named("id"))))
    .limit(1)
    .prepare(),
);

/** @returns whether another record of the user reports with the same login session */
export const hasOtherClientOfLogin = (
  connection: Connection,
  { id, userId, loginSessionId }: Pick<ReportRow, "id" | "userId" | "loginSessionId">,
): boolean => selectCompanion(connection).get({ id, userId, loginSessionId }) !== undefined;

const deleteRow = statement((connection) =>
  connection.delete(clientReports).where(isRow).returning().prepare(),
);

/** Deletes a record. @returns the deleted record; undefined for none */
export function take(tx: Tx, { organizationId, id }: RowId): ReportRow | undefined {
  markTopicChanged(tx, "client_rows");
  return deleteRow(tx).get({ organizationId, id });
}

/** Selects records last seen before a time in UTC milliseconds. */
export interface Unseen {
  organizationId: string;
  seenBeforeMs: number;
  limit: number;
}

const isUnseen = ({ organizationId, seenBeforeMs }: Unseen) =>
  and(eq(clientReports.organizationId, organizationId), lt(clientReports.lastSeenAtMs, seenBeforeMs));

/** @returns a subquery for the ids, oldest first */
const unseenIds = (connection: Connection, unseen: Unseen) =>
  connection
    .select({ id: clientReports.id })
    .from(clientReports)
    .where(isUnseen(unseen))
    .orderBy(asc(clientReports.lastSeenAtMs), asc(clientReports.id))
    .limit(unseen.limit);

/** @returns the deleted records */
export function takeUnseen(tx: Tx, unseen: Unseen): ReportRow[] {
  markTopicChanged(tx, "client_rows");
  return tx
    .delete(clientReports)
    .where(inArray(clientReports.id, unseenIds(tx, unseen)))
    .returning()
    .all();
}

/** @returns the number of deleted records */
export function removeUnseen(tx: Tx, unseen: Unseen): number {
  markTopicChanged(tx, "client_rows");
  return tx
    .delete(clientReports)
    .where(inArray(clientReports.id, unseenIds(tx, unseen)))
    .returning({ id: clientReports.id })
    .all().length;
}

const selectInUse = statement((connection) =>
  connection
    .select({ id: clientReports.id })
    .from(clientReports)
    .where(
      and(
        equalAll(clientReports, "userId", "loginSessionId"),
        gte(clientReports.lastSeenAtMs, named("seenSinceMs")),
      ),
    )
    .limit(1)
    .prepare(),
);

/** @returns whether a record seen since then uses the same login session */
export const isLoginInUse = (
  tx: Tx,
  login: { userId: string; loginSessionId: string; seenSinceMs: number },
): boolean => selectInUse(tx).get(login) !== undefined;

/** @returns up to `limit` rows evaluated under other rules. Uses two ranges instead of `<>`, so that SQLite uses the index. */
export const listOutdatedVerdicts = (
  connection: Connection,
  { rules, limit }: { rules: string; limit: number },
): ReportRow[] =>
  connection
    .select()
    .from(clientReports)
    .where(or(lt(clientReports.evaluatedBy, rules), gt(clientReports.evaluatedBy, rules)))
    .limit(limit)
    .all();

const {
  verdict,
  reasons,
  harnessesWanted,
  harnessesReconciled,
  packagesReported,
  packagesApplied,
  harnessVersions,
} = reported;
const figures = { harnessesWanted, harnessesReconciled, packagesReported, packagesApplied, harnessVersions };

export type EvaluationRow = Pick<ReportRow, "verdict" | "reasons" | "evaluatedBy" | keyof typeof figures>;

const updateEvaluation = statement((connection) =>
  connection
    .update(clientReports)
    .set(updateAll({ verdict, reasons, evaluatedBy, ...figures }))
    .where(equalAll(clientReports, "id", "lastSeenAtMs"))
    .prepare(),
);

/** Does nothing if a newer report has arrived: that report already has its own verdict. */
export function updateVerdict(
  tx: Tx,
  { id, lastSeenAtMs }: Pick<ReportRow, "id" | "lastSeenAtMs">,
  evaluation: EvaluationRow,
): void {
  updateEvaluation(tx).run({ id, lastSeenAtMs, ...evaluation });
}

/** @returns the number of the user's reports removed */
export function removeOfUser(tx: Tx, userId: string): number {
  markTopicChanged(tx, "client_rows");
  return changesOf(tx.delete(clientReports).where(eq(clientReports.userId, userId)).run());
}
