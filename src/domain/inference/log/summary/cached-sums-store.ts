// SQL of the sums of whole hours and days that are kept in the file of the request log. Triggers delete them as soon as one of their
// rows is added, completed or removed, by whatever process.
import { and, eq, isNull } from "drizzle-orm";
import { HOUR_MS } from "../../../../platform/clock.ts";
import type { Connection } from "../../../../platform/database/database.ts";
import { asStorageError } from "../../../../platform/database/storage-errors.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { keptSums } from "../tables.ts";
import type { StoredTallies, StoredTally } from "./tally.ts";

/** Hours of the spans that are kept. */
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

/** Needs a connection that may write. */
export class CachedSums {
  constructor(private readonly connection: Connection) {}

  /** @returns a part of the kept sums; undefined if they are not kept */
  find<Part extends SumsPart>(span: Span, part: Part): Sums[Part] | undefined {
    const where = and(isSpan(span), isNull(keptSums.mark));
    const row = this.connection.select({ found: keptSums[part] }).from(keptSums).where(where).get();
    return row?.found;
  }

  /**
   * Marks a span before its rows are read. A change of its rows removes the mark.
   * @returns undefined if the file has no room or another process holds it
   */
  begin({ hours, startMs }: Span): number | undefined {
    const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    const begun = { hours, number: numberOf({ hours, startMs }), mark, ...NO_SUMS };
    const target = [keptSums.hours, keptSums.number];
    const write = this.connection.insert(keptSums).values(begun).onConflictDoUpdate({ target, set: begun });
    return isWritten(() => write.run()) ? mark : undefined;
  }

  /** Keeps the sums, unless the mark is gone. */
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

/** Sums that are not stored are computed again from the rows, so a failure to store them changes no response. */
function isWritten(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (asStorageError(error) instanceof DomainError) return false;
    throw error;
  }
}
