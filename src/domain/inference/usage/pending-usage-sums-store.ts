// SQL for pending sums of usage in the file of the request log, where commits are cheap. The service takes them in batches
// (usage-intake.ts). A process that only forwards inference also leaves its sums here, because its commits to the database
// would make the service drop its caches.
import type { Database } from "bun:sqlite";
import type { UsageBatch, UsageDelta } from "./model.ts";

/** Number of sums in one batch, which take a few milliseconds of the service's transaction. */
const BATCH_SUMS_MAX = 500;
/** Sums that are in no batch yet. */
const NO_BATCH = "";

const MEMBERS = [
  ["organization_id", "organizationId"],
  ["day", "day"],
  ["user_id", "userId"],
  ["model", "model"],
  ["harness", "harness"],
  ["requests", "requests"],
  ["refused", "refused"],
  ["input_tokens", "inputTokens"],
  ["output_tokens", "outputTokens"],
  ["cache_read_tokens", "cacheReadTokens"],
  ["cache_write_tokens", "cacheWriteTokens"],
  ["cost", "cost"],
] as const satisfies readonly (readonly [string, keyof UsageDelta])[];
const KEY_COLUMNS = 5;
const NAMES = MEMBERS.map(([name]) => name).join(", ");
const SELECTED = MEMBERS.map(([name, member]) => `${name} AS ${member}`).join(", ");
const KEY = MEMBERS.slice(0, KEY_COLUMNS)
  .map(([name]) => name)
  .join(", ");
const ADDED = MEMBERS.slice(KEY_COLUMNS).map(([name]) => `${name} = ${name} + excluded.${name}`);
const GREATEST = MEMBERS.slice(KEY_COLUMNS).map(([name]) => `${name} = max(${name}, excluded.${name})`);
const INSERT_INTO = `INSERT INTO usage_sums (batch, ${NAMES}) VALUES ('', ${MEMBERS.map(() => "?").join(", ")})
  ON CONFLICT DO UPDATE SET`;
const ADD = `${INSERT_INTO} ${ADDED.join(", ")}`;
const RESTORE = `${INSERT_INTO} ${GREATEST.join(", ")}`;

/** Works through one connection to the file. */
export class PendingUsageSums {
  constructor(private readonly connection: Database) {}

  /** Adds to the waiting sums, in one transaction. */
  handOver(deltas: readonly UsageDelta[]): void {
    this.#insert(ADD, deltas);
  }

  /** Adds sums that may be missing in the file. Sums that it already has are not added twice. */
  restore(deltas: readonly UsageDelta[]): void {
    if (deltas.length > 0) this.#insert(RESTORE, deltas);
  }

  #insert(sql: string, deltas: readonly UsageDelta[]): void {
    const insert = this.connection.query(sql);
    this.connection
      .transaction(() => {
        for (const delta of deltas) insert.run(...MEMBERS.map(([, member]) => delta[member]));
      })
      .immediate();
  }

  /**
   * Moves some of the waiting sums into a batch. An earlier unfinished batch comes first, under its own id. The batch is flushed to
   * the disk before its sums are counted; otherwise they would be counted again under another id after a power failure.
   * @param id id of the new batch
   * @returns undefined if no sums wait
   */
  take(id: string): UsageBatch | undefined {
    this.connection.run("PRAGMA synchronous=FULL");
    try {
      return this.connection.transaction(() => this.#take(id)).immediate();
    } finally {
      this.connection.run("PRAGMA synchronous=NORMAL");
    }
  }

  #take(id: string): UsageBatch | undefined {
    const batch = this.#begun() ?? this.#begin(id);
    if (batch === undefined) return undefined;
    const rows = this.connection.query<UsageDelta, [string]>(
      `SELECT ${SELECTED} FROM usage_sums WHERE batch = ?`,
    );
    return { batch, deltas: rows.all(batch) };
  }

  /** Removes a batch whose sums are counted. */
  remove(batch: string): void {
    this.connection.query("DELETE FROM usage_sums WHERE batch = ?").run(batch);
  }

  /** @returns the sums of a day that the service has not counted yet */
  waiting(day: number): UsageDelta[] {
    return this.connection
      .query<UsageDelta, [number]>(`SELECT ${SELECTED} FROM usage_sums WHERE day = ?`)
      .all(day);
  }

  #begun(): string | undefined {
    return this.connection
      .query<{ batch: string }, [string]>("SELECT batch FROM usage_sums WHERE batch > ? LIMIT 1")
      .get(NO_BATCH)?.batch;
  }

  #begin(id: string): string | undefined {
    const { changes } = this.connection
      .query(
        `UPDATE usage_sums SET batch = ? WHERE (batch, ${KEY}) IN (
          SELECT batch, ${KEY} FROM usage_sums WHERE batch = ? LIMIT ${BATCH_SUMS_MAX})`,
      )
      .run(id, NO_BATCH);
    return changes > 0 ? id : undefined;
  }
}
