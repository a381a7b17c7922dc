// Sums of whole hours and days, computed and stored if not yet stored. A day is the sum of its hours, so that rows are read once.
import { HOUR_MS } from "../../../../platform/clock.ts";
import type { Connection } from "../../../../platform/database/database.ts";
import type { Steps } from "../../../../platform/steps.ts";
import { CachedSums, type Span, type Sums, type SumsPart } from "./cached-sums-store.ts";
import { countingAll, type Period } from "./counted-rows-store.ts";
import type { SummaryGroup } from "./model.ts";
import { type CountedRow, Tallies, Tally } from "./tally.ts";

const DAY_HOURS = 24;

export class SpanSums {
  readonly #kept: CachedSums;
  readonly #countAll: ReturnType<typeof countingAll>;

  /** @param connection writable connection to the file */
  constructor(connection: Connection) {
    this.#kept = new CachedSums(connection);
    this.#countAll = countingAll(connection);
  }

  /** @returns part of the sums of the span */
  *partOf<Part extends SumsPart>(span: Span, part: Part): Steps<Sums[Part]> {
    return this.#kept.find(span, part) ?? (yield* this.#make(span))[part];
  }

  *#make(span: Span): Steps<Sums> {
    const mark = this.#kept.begin(span);
    const sums = yield* span.hours === 1 ? this.#fromRows(span) : this.#fromHours(span);
    if (mark !== undefined) this.#kept.keep(span, mark, sums);
    yield;
    return sums;
  }

  *#fromRows({ startMs }: Span): Steps<Sums> {
    const [totals, models, users] = [new Tally(), new Tallies(), new Tallies()];
    const period: Period = { fromMs: startMs, beforeMs: startMs + HOUR_MS };
    yield* this.#countAll(period, (row) => {
      if (!totals.count(row)) return;
      models.of(nameOf(row, "model")).count(row);
      users.of(nameOf(row, "user")).count(row);
    });
    return { totals: totals.stored(), models: models.stored(), users: users.stored() };
  }

  *#fromHours({ startMs }: Span): Steps<Sums> {
    const [totals, models, users] = [new Tally(), new Tallies(), new Tallies()];
    for (let hour = 0; hour < DAY_HOURS; hour++) {
      const span: Span = { hours: 1, startMs: startMs + hour * HOUR_MS };
      totals.add(yield* this.partOf(span, "totals"));
      models.add(yield* this.partOf(span, "models"));
      users.add(yield* this.partOf(span, "users"));
      yield;
    }
    return { totals: totals.stored(), models: models.stored(), users: users.stored() };
  }
}

/** @returns the group under which a row is counted */
export const nameOf = ({ model, userId }: CountedRow, group: SummaryGroup): string =>
  group === "model" ? (model ?? "") : userId;
