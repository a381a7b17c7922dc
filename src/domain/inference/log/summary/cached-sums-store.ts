// SQL of the cached sums of whole hours and days in the file of the request log. Triggers delete them as soon as any process
// adds, completes or removes one of their rows.
import { and, eq, isNull } from "drizzle-orm";
import { HOUR_MS } from "../../../../platform/clock.ts";
import type { Connection } from "../../../../platform/database/database.ts";
import { asStorageError } from "../../../../platform/database/storage-errors.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { keptSums } from "../tables.ts";
import type { StoredTallies, StoredTally } from "./tally.ts";

/** Lengths of the cached spans, in hours. */
export type SpanHours = 1 | 24;

export interface Span {
  hours: SpanHours;
  /** UTC milliseconds, a multiple of the length */
  startMs: number;
}

export interface Sums {
  totals: StoredTally;
  models: StoredTallies;
  users: StoredTallies;
}

export type SumsPart = keyof Sums;

/** Needs a writable connection. */
export class CachedSums {
  constructor(private readonly connection: Connection) {}

  /** @returns part of the cached sums; undefined if they are not cached */
  find<Part extends SumsPart>(span: Span, part: Part): Sums[Part] | undefined {
    const where = and(isSpan(span), isNull(keptSums.mark));
    const row = this.connection.select({ found: keptSums[part] }).from(keptSums).where(where).get();
    return row?.found;
  }

  /**
   * Marks a span before reading its rows. A change of its rows removes the mark.
   * @returns undefined if the disk is full or another process holds the file
   */
  begin({ hours, startMs }: Span): number | undefined {
    const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    const begun = { hours, number: numberOf({ hours, startMs }), mark, ...NO_SUMS };
    const target = [keptSums.hours, keptSums.number];
    const write = this.connection.insert(keptSums).values(begun).onConflictDoUpdate({ target, set: begun });
    return isWritten(() => write.run()) ? mark : undefined;
  }

  /** Stores the sums, unless the mark was removed. */
  keep(span: Span, mark: number, sums: Sums): void {
    const write = this.connection
      .update(keptSums)
      .set({ ...sums, mark: null })
      .where(and(isSpan(span), eq(keptSums.mark, mark)));
    isWritten(() => write.run());
  }
}

const NO_SUMS: Sums = { totals: [0, 0, [], []], models: [], users: [] };

const numberOf = ({ hours, startMs }: Span): number => startMs / (hours * HOUR_MS);

const isSpan = (span: Span) => and(eq(keptSums.hours, span.hours), eq(keptSums.number, numberOf(span)));

/** A failure to store sums changes no response, because missing sums are computed again from the rows. */
function isWritten(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (asStorageError(error) instanceof DomainError) return false;
    throw error;
  }
}
