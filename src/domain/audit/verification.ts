// Verifies the audit log: reads it in order, page by page from the checkpoint of retention, and compares each entry with its
// digest and with the entry before it.
import { setImmediate } from "node:timers/promises";
import type { Db } from "../../platform/database/database.ts";
import type { AuditRow } from "./chain.ts";
import { type Checkpoint, FORGET_ACTION, isRepeatedIn, NOTHING_REMOVED } from "./checkpoint.ts";
import * as store from "./log-store.ts";
import { listInForce } from "./redaction-store.ts";
import { contentDigest, ERASE_ACTION, recordedDigest, storedDigest } from "./redactions.ts";

export const WALK_ROWS = 500;

export interface VerifyOptions {
  /** stops between two pages */
  signal?: AbortSignal;
  /** called after each page with its number of entries */
  advance?: (entries: number) => void;
  /** whether the installation has an organization, whose creation is the first entry; default: false */
  isInstalled?: boolean;
}

/** The first place at which the log differs from its recorded state. */
export type ChainBreak =
  /** the content of the entry was changed */
  | { kind: "altered"; entry: AuditRow }
  /** the entry before this one was removed, inserted or moved */
  | { kind: "unlinked"; entry: AuditRow }
  /** more entries are missing before the first one than retention has recorded as removed */
  | { kind: "begins_late"; entry: AuditRow }
  /** the redactions of this erasure differ from its digest of them */
  | { kind: "redactions_altered"; entry: AuditRow }
  /** entries up to this id were recorded, but the last ones are missing */
  | { kind: "cut_off"; recordedUpTo: number }
  /** the log is empty, although the creation of the installation was recorded */
  | { kind: "emptied" };

export interface Verification {
  /** valid entries, up to the break */
  entries: number;
  /** number of entries that retention has removed */
  removed: number;
  /** the last valid entry; a copy of it kept elsewhere reveals a log that was rewritten as a whole */
  last: AuditRow | undefined;
  broken: ChainBreak | undefined;
}

type EntryBreak = Exclude<ChainBreak["kind"], "cut_off" | "emptied">;

interface Page {
  checkpoint: Checkpoint;
  entries: readonly AuditRow[];
  /** digests of the current content of redacted entries, by their id */
  redacted: ReadonlyMap<number, string>;
  /** digests over the stored redactions of each erasure, by the id of its entry */
  erasures: ReadonlyMap<number, string | undefined>;
}

/** Stops at the first mismatch. Also verifies entries that are recorded during the run. */
export async function verifyLog(
  db: Db,
  { signal, advance, isInstalled = false }: VerifyOptions = {},
): Promise<Verification> {
  const recordedUpTo = store.lastIdEver(db.read); // read first, because entries recorded later have higher ids
  const reading = new ChainReading();
  for (let isEnd = false; !isEnd; ) {
    signal?.throwIfAborted();
    const page = readPage(db, reading.lastId);
    const broken = reading.read(page);
    if (broken) return reading.verification(broken);
    advance?.(page.entries.length);
    isEnd = page.entries.length < WALK_ROWS;
    await setImmediate(); // lets signals and other work run
  }
  return reading.verification(reading.breakAtEnd({ recordedUpTo, isInstalled }));
}

/** Reads one snapshot, because retention may remove the next entries and an erasure may redact them. */
const readPage = (db: Db, after: number): Page =>
  db.readConsistently(() => {
    const entries = store.listFollowing(db.read, { after, limit: WALK_ROWS });
    const redacted = entries.filter(({ redactedBy }) => redactedBy !== null);
    const [first, last] = [redacted[0], redacted.at(-1)];
    const inForce = first && last ? listInForce(db.read, first.id, last.id) : [];
    const erasures = entries.filter(({ action }) => action === ERASE_ACTION);
    return {
      checkpoint: store.findCheckpoint(db.read) ?? NOTHING_REMOVED,
      entries,
      redacted: new Map(inForce.map(({ entryId, digest }) => [entryId, digest])),
      erasures: new Map(erasures.map(({ id }) => [id, storedDigest(db.read, id)])),
    };
  });

/** The state of one verification. */
class ChainReading {
  #checkpoint = NOTHING_REMOVED;
  #first: AuditRow | undefined;
  #last: AuditRow | undefined;
  #entries = 0;
  /** `after` of the newest entry of FORGET_ACTION */
  #forgotten: string | null = null;
  /** redacted entries whose erasure was not read yet, by the id of the erasure */
  readonly #unprovenRedactions = new Map<number, AuditRow>();

  get lastId(): number {
    return this.#last?.id ?? 0;
  }

  /** @returns the first mismatch of the page */
  read(page: Page): ChainBreak | undefined {
    this.#checkpoint = page.checkpoint;
    for (const entry of page.entries) {
      const kind = contentBreak(entry, page) ?? this.#placeBreak(entry);
      if (kind !== undefined) return { kind, entry };
      this.#note(entry);
      if (entry.action === FORGET_ACTION) this.#forgotten = entry.after;
      this.#first ??= entry;
      this.#last = entry;
      this.#entries += 1;
    }
    return undefined;
  }

  /** Remembers each erasure that a redacted entry names until the entry of that erasure is read. */
  #note(entry: AuditRow): void {
    const { id, action, redactedBy } = entry;
    if (redactedBy !== null && !this.#unprovenRedactions.has(redactedBy))
      this.#unprovenRedactions.set(redactedBy, entry);
    if (action === ERASE_ACTION) this.#unprovenRedactions.delete(id);
  }

  #placeBreak(entry: AuditRow): "unlinked" | "begins_late" | undefined {
    const { entryId, digest } = this.#checkpoint;
    if (this.#last && this.#last.id >= entryId)
      return entry.previousDigest === this.#last.digest ? undefined : "unlinked";
    if (entry.id > entryId + 1) return "begins_late";
    return entry.id > entryId && entry.previousDigest === digest ? undefined : "unlinked";
  }

  /** @returns a mismatch that shows only after all entries were read */
  breakAtEnd({
    recordedUpTo,
    isInstalled,
  }: {
    recordedUpTo: number;
    isInstalled: boolean;
  }): ChainBreak | undefined {
    if (this.#first === undefined || this.lastId < recordedUpTo) {
      const isTraceless = recordedUpTo === 0 && this.#checkpoint.removed === 0;
      if (!isTraceless) return { kind: "cut_off", recordedUpTo };
      return isInstalled ? { kind: "emptied" } : undefined;
    }
    for (const [erasureId, entry] of this.#unprovenRedactions)
      if (erasureId > this.#checkpoint.entryId) return { kind: "altered", entry };
    const isTold = this.#checkpoint.removed === 0 || isRepeatedIn(this.#forgotten, this.#checkpoint);
    return isTold ? undefined : { kind: "begins_late", entry: this.#first };
  }

  verification(broken: ChainBreak | undefined): Verification {
    return { entries: this.#entries, removed: this.#checkpoint.removed, last: this.#last, broken };
  }
}

/** An entry must have its original content, or the content that a later erasure gave it. */
function contentBreak(entry: AuditRow, { redacted, erasures }: Page): EntryBreak | undefined {
  const { id, redactedBy } = entry;
  if (redactedBy !== null && redactedBy <= id) return "altered";
  const digest = redactedBy === null ? entry.digest : redacted.get(id);
  if (contentDigest(entry) !== digest) return "altered";
  const isErasure = entry.action === ERASE_ACTION;
  return isErasure && recordedDigest(entry) !== erasures.get(entry.id) ? "redactions_altered" : undefined;
}
