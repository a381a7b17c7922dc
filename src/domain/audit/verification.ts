// Whether the audit log is what was recorded: reads all of it in order, a page at a time, and compares each entry with its digest
// and with the entry before it, from the checkpoint on at which retention lets the chain begin.
import { setImmediate } from "node:timers/promises";
import type { Db } from "../../platform/database/database.ts";
import type { AuditRow } from "./chain.ts";
import { type Checkpoint, FORGET_ACTION, isRepeatedIn, NOTHING_REMOVED } from "./checkpoint.ts";
import * as store from "./log-store.ts";
import { listInForce } from "./redaction-store.ts";
import { contentDigest, ERASE_ACTION, recordedDigest, storedDigest } from "./redactions.ts";

/** Entries of one page while the whole log is read. */
export const WALK_ROWS = 500;

export interface VerifyOptions {
  /** stops between two pages */
  signal?: AbortSignal;
  /** told after each page how many entries it had */
  advance?: (entries: number) => void;
}

/** The first place where the log is not what was recorded. */
export type Break =
  /** the entry says something else than when it was recorded */
  | { kind: "altered"; entry: AuditRow }
  /** what was recorded before this entry is not what stands before it now: removed, inserted or moved */
  | { kind: "unlinked"; entry: AuditRow }
  /** more is gone before the first entry than retention has removed, by what the log itself says */
  | { kind: "begins_late"; entry: AuditRow }
  /** the redactions that this erasure vouches for are not those that it made */
  | { kind: "redactions_altered"; entry: AuditRow }
  /** entries were recorded up to this id, and the last ones are gone */
  | { kind: "cut_off"; recordedUpTo: number };

export interface Verification {
  /** that fit, up to the break */
  entries: number;
  /** entries before the first one, which retention has removed */
  removed: number;
  /** the last of those that fit: whoever kept it elsewhere can tell a log that was written anew */
  last: AuditRow | undefined;
  broken: Break | undefined;
}

type EntryBreak = Exclude<Break["kind"], "cut_off">;

interface Page {
  checkpoint: Checkpoint;
  entries: readonly AuditRow[];
  /** digests of what redacted entries say now, by their id */
  redacted: ReadonlyMap<number, string>;
  /** digests over the redactions that each erasure made, by the id of its entry */
  erasures: ReadonlyMap<number, string | undefined>;
}

/** Reads as far as the first entry that does not fit; entries made meanwhile are read as well. */
export async function verifyLog(db: Db, { signal, advance }: VerifyOptions = {}): Promise<Verification> {
  const recordedUpTo = store.lastIdEver(db.read); // asked first: what is made meanwhile comes after it
  const reading = new ChainReading();
  for (let isEnd = false; !isEnd; ) {
    signal?.throwIfAborted();
    const page = readPage(db, reading.lastId);
    const broken = reading.read(page);
    if (broken) return reading.verification(broken);
    advance?.(page.entries.length);
    isEnd = page.entries.length < WALK_ROWS;
    await setImmediate(); // signals and other work get their turn
  }
  return reading.verification(reading.breakAtEnd(recordedUpTo));
}

/** All of one moment: retention may remove what would have been read next, and an erasure redact it. */
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

/** How far the chain has been followed. */
class ChainReading {
  #checkpoint = NOTHING_REMOVED;
  #first: AuditRow | undefined;
  #last: AuditRow | undefined;
  #entries = 0;
  /** what the newest entry about removed ones says */
  #forgotten: string | null = null;
  /** redacted entries whose erasure was not read yet, by its id */
  readonly #unvouched = new Map<number, AuditRow>();

  get lastId(): number {
    return this.#last?.id ?? 0;
  }

  /** @returns the first entry that does not fit */
  read(page: Page): Break | undefined {
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

  /** What an erasure redacted came before it. */
  #note(entry: AuditRow): void {
    const { id, action, redactedBy } = entry;
    if (redactedBy !== null && !this.#unvouched.has(redactedBy)) this.#unvouched.set(redactedBy, entry);
    if (action === ERASE_ACTION) this.#unvouched.delete(id);
  }

  #placeBreak(entry: AuditRow): "unlinked" | "begins_late" | undefined {
    const { entryId, digest } = this.#checkpoint;
    if (this.#last && this.#last.id >= entryId)
      return entry.previousDigest === this.#last.digest ? undefined : "unlinked";
    if (entry.id > entryId + 1) return "begins_late";
    return entry.id > entryId && entry.previousDigest === digest ? undefined : "unlinked";
  }

  /** @returns what shows only when all entries were read */
  breakAtEnd(recordedUpTo: number): Break | undefined {
    if (this.#first === undefined || this.lastId < recordedUpTo) {
      const isEmpty = recordedUpTo === 0 && this.#checkpoint.removed === 0;
      return isEmpty ? undefined : { kind: "cut_off", recordedUpTo };
    }
    for (const [erasureId, entry] of this.#unvouched)
      if (erasureId > this.#checkpoint.entryId) return { kind: "altered", entry };
    const isTold = this.#checkpoint.removed === 0 || isRepeatedIn(this.#forgotten, this.#checkpoint);
    return isTold ? undefined : { kind: "begins_late", entry: this.#first };
  }

  verification(broken: Break | undefined): Verification {
    return { entries: this.#entries, removed: this.#checkpoint.removed, last: this.#last, broken };
  }
}

/** An entry says what was recorded, or what the erasure that redacted it left of that: one that was recorded later. */
function contentBreak(entry: AuditRow, { redacted, erasures }: Page): EntryBreak | undefined {
  const { id, redactedBy } = entry;
  if (redactedBy !== null && redactedBy <= id) return "altered";
  const digest = redactedBy === null ? entry.digest : redacted.get(id);
  if (contentDigest(entry) !== digest) return "altered";
  const isErasure = entry.action === ERASE_ACTION;
  return isErasure && recordedDigest(entry) !== erasures.get(entry.id) ? "redactions_altered" : undefined;
}
