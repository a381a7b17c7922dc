// SQL that writes, sweeps and erases rows of the request log. search-store.ts reads them.
import type { Database, Statement } from "bun:sqlite";
import { getTableColumns } from "drizzle-orm";
import { sqliteErrorIn } from "../../../../platform/database/storage-errors.ts";
import { growingCache } from "../../../../platform/memory/growing-cache.ts";
import { type Gap, resultOf, SEEN_VALUES_MAX } from "../model.ts";
import { requests } from "../tables.ts";
import { ROW_MEMBERS, type RowValues } from "./row-text.ts";

/** Number of rows deleted in one transaction, which takes a few milliseconds. */
const SWEEP_ROWS = 500;
/** Gaps with one cause become one gap if less than this is between them. */
const GAP_JOIN_MS = 60_000;
/** A facet value is written again only after this time, because most rows repeat earlier values. */
const SEEN_AGAIN_MS = 600_000;

const columns = getTableColumns(requests);
const NAMES = ROW_MEMBERS.map((member) => columns[member].name);
const INSERT = `INSERT INTO requests (${NAMES.join(", ")}) VALUES (${NAMES.map(() => "?").join(", ")})`;
const at = (member: (typeof ROW_MEMBERS)[number]): number => ROW_MEMBERS.indexOf(member);
const [MODEL, HARNESS, PROFILE, ALIAS, STATUS, OCCURRED] = [
  at("model"),
  at("harness"),
  at("profileId"),
  at("profileName"),
  at("httpStatus"),
  at("occurredAtMs"),
];

export class RowWriter {
  readonly #complete: Statement;
  readonly #add: Statement;
  readonly #see: Statement;
  readonly #sweep: Statement;
  /** when each facet value was last written */
  readonly #seenAtMs = growingCache<number>(SEEN_VALUES_MAX);

  constructor(private readonly connection: Database) {
    const changes = NAMES.filter((name) => name !== "id").map((name) => `${name} = excluded.${name}`);
    // A row without an outcome is an early one, which never replaces a complete one.
    this.#complete = connection.prepare(
      `${INSERT} ON CONFLICT (id) DO UPDATE SET ${changes.join(", ")}
        WHERE excluded.outcome IS NOT NULL OR requests.outcome IS NULL`,
    );
    this.#add = connection.prepare(`${INSERT} ON CONFLICT (id) DO NOTHING`);
    this.#see = connection.prepare(
      `INSERT INTO seen (kind, value, name, last_at_ms) VALUES (?, ?, ?, ?) ON CONFLICT (kind, value)
        DO UPDATE SET name = excluded.name, last_at_ms = max(last_at_ms, excluded.last_at_ms)`,
    );
    this.#sweep = connection.prepare(
      `DELETE FROM requests WHERE rowid IN (
        SELECT rowid FROM requests WHERE occurred_at_ms < ? ORDER BY occurred_at_ms LIMIT ${SWEEP_ROWS})`,
    );
  }

  /**
   * Writes rows and gaps in one transaction. Repeating it writes nothing twice.
   * @returns the number of rows that the file cannot hold, such as one without a path
   * @throws the errors of SQLite
   */
  write(rows: readonly RowValues[], gaps: readonly Gap[]): number {
    return this.connection
      .transaction(() => {
        for (const gap of gaps) this.#addGap(gap);
        return rows.filter((row) => !this.#put(row)).length;
      })
      .immediate();
  }

  /** @returns whether the row fits */
  #put(row: RowValues): boolean {
    const values = row.slice(0, NAMES.length);
    try {
      (row[NAMES.length] === 1 ? this.#add : this.#complete).run(...values);
    } catch (error) {
      if (sqliteErrorIn(error)?.code?.startsWith("SQLITE_CONSTRAINT")) return false;
      throw error;
    }
    const occurredAtMs = Number(row[OCCURRED]);
    this.#noteSeen("model", row[MODEL], { occurredAtMs });
    this.#noteSeen("harness", row[HARNESS], { occurredAtMs });
    this.#noteSeen("profile", row[PROFILE], { occurredAtMs, name: row[ALIAS] });
    const status = row[STATUS];
    this.#noteSeen("result", resultOf(typeof status === "number" ? status : null), { occurredAtMs });
    return true;
  }

  #noteSeen(
    kind: string,
    value: RowValues[number] | undefined,
    { occurredAtMs, name = null }: { occurredAtMs: number; name?: RowValues[number] | undefined },
  ): void {
    if (typeof value !== "string") return;
    const key = `${kind} ${value} ${name}`;
    const before = this.#seenAtMs.get(key);
    if (before !== undefined && occurredAtMs - before < SEEN_AGAIN_MS) return;
    this.#see.run(kind, value, name, occurredAtMs);
    this.#seenAtMs.set(key, occurredAtMs);
  }

  #addGap({ fromMs, toMs, count, cause }: Gap): void {
    const joined = this.connection
      .query(
        `UPDATE gaps SET from_ms = min(from_ms, ?), to_ms = max(to_ms, ?), count = count + ?
          WHERE id = (SELECT id FROM gaps WHERE cause = ? ORDER BY id DESC LIMIT 1) AND to_ms >= ?`,
      )
      .run(fromMs, toMs, count, cause, fromMs - GAP_JOIN_MS);
    if (joined.changes > 0) return;
    this.connection
      .query("INSERT INTO gaps (from_ms, to_ms, count, cause) VALUES (?, ?, ?, ?)")
      .run(fromMs, toMs, count, cause);
  }

  /** Deletes some older rows. @returns how many; fewer than SWEEP_ROWS means that none is left */
  sweepSome(beforeMs: number): { removed: number; isLast: boolean } {
    const removed = this.#sweep.run(beforeMs).changes;
    return { removed, isLast: removed < SWEEP_ROWS };
  }

  /** Deletes gaps and facet values that are older than all kept rows. */
  sweepRest(beforeMs: number): void {
    const { connection } = this;
    this.#seenAtMs.clear();
    connection.query("DELETE FROM gaps WHERE to_ms < ?").run(beforeMs);
    connection.query("DELETE FROM seen WHERE last_at_ms < ?").run(beforeMs);
    connection
      .query(
        `DELETE FROM seen WHERE (kind, value) IN (SELECT kind, value FROM (
          SELECT kind, value, row_number() OVER (PARTITION BY kind ORDER BY last_at_ms DESC) AS place FROM seen)
          WHERE place > ${SEEN_VALUES_MAX})`,
      )
      .run();
  }
}

/** Deletes some rows of a user. @returns how many; 0 if none is left */
export const eraseSomeOfUser = (connection: Database, userId: string): number =>
  connection
    .query(
      `DELETE FROM requests WHERE rowid IN (SELECT rowid FROM requests WHERE user_id = ? LIMIT ${SWEEP_ROWS})`,
    )
    .run(userId).changes;
