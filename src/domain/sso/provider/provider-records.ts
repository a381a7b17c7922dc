// Records facts about the provider in the database. Writes are rare even if the same failure repeats often. A failed write does not
// fail the sign-in; the next sign-in writes again.
import { type Clock, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Connection, Db } from "../../../platform/database/database.ts";
import { isReportedByBrowser } from "../model.ts";
import { type MetadataStore, parseStored, type StoredMetadata } from "./discovery/discovery.ts";
import type { ProviderMetadata } from "./discovery/metadata.ts";
import { isWithin } from "./failures.ts";
import * as store from "./provider-store.ts";

/** The same error, and successes, are written at most this often. */
const ERROR_PAUSE_MS = 10 * SECOND_MS;
const SUCCESS_PAUSE_MS = MINUTE_MS;

export interface ProviderRecord {
  /** reason of the last failure, unless a sign-in succeeded since */
  lastErrorReason: string | null;
  lastSuccessAtMs: number | null;
}

const NOTHING: ProviderRecord = { lastErrorReason: null, lastSuccessAtMs: null };

export class ProviderRecords {
  #error: { reason: string; atMs: number } | undefined;
  #reportedAtMs: number | undefined;
  #successAtMs: number | undefined;

  constructor(
    private readonly parts: { db: Db; clock: Clock },
    private readonly issuer: string,
  ) {}

  /** @returns what the service or a command recorded last */
  read(): ProviderRecord {
    const row = store.findProvider(this.parts.db.read, this.issuer);
    return row ?? NOTHING;
  }

  async noteError(reason: string): Promise<void> {
    const { clock } = this.parts;
    const isSame = this.#error?.reason === reason;
    if (isSame && isWithin(ERROR_PAUSE_MS, this.#error?.atMs, clock)) return;
    const nowMs = clock.nowMs();
    this.#error = { reason, atMs: nowMs };
    this.#successAtMs = undefined; // the next success clears it
    await this.#save({ lastErrorReason: reason, lastErrorAtMs: nowMs });
  }

  /** Records a failure that only a browser reported, unless a failure that this service saw is recorded. */
  async noteReport(reason: string): Promise<void> {
    const { clock } = this.parts;
    if (isWithin(ERROR_PAUSE_MS, this.#reportedAtMs, clock)) return;
    this.#reportedAtMs = clock.nowMs();
    const { lastErrorReason: noted } = this.read();
    if (noted === null || isReportedByBrowser(noted)) await this.noteError(reason);
  }

  async noteSuccess(): Promise<void> {
    const { clock } = this.parts;
    if (isWithin(SUCCESS_PAUSE_MS, this.#successAtMs, clock)) return;
    const nowMs = clock.nowMs();
    this.#successAtMs = nowMs;
    this.#error = undefined; // the next error is shown again
    await this.#save({ lastSuccessAtMs: nowMs, lastErrorReason: null, lastErrorAtMs: null });
  }

  get metadata(): MetadataStore {
    return {
      load: () => loadMetadata(this.parts.db.read, this.issuer),
      save: ({ text, atMs }) => this.#save({ metadata: text, metadataAtMs: atMs }),
    };
  }

  async #save(changes: Parameters<typeof store.saveProvider>[2]): Promise<void> {
    try {
      await this.parts.db.write((tx) => store.saveProvider(tx, this.issuer, changes), "unobserved");
    } catch {
      // Ignores a full disk or a read-only database, because these records only save requests or inform operators.
    }
  }
}

function loadMetadata(connection: Connection, issuer: string): StoredMetadata | undefined {
  const row = store.findProvider(connection, issuer);
  return row?.metadata && row.metadataAtMs !== null
    ? { text: row.metadata, atMs: row.metadataAtMs }
    : undefined;
}

/** @returns the last found endpoints of any age; undefined if there are none */
export function storedMetadataOf(connection: Connection, issuer: string): ProviderMetadata | undefined {
  const stored = loadMetadata(connection, issuer);
  return stored && parseStored(stored, issuer);
}
