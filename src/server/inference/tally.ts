// Counters and histograms for events of every request. Counting adds to a plain number, because the library would write the labels of each event as
// text. The registry reads the numbers when it is asked.
import { Counter, Histogram, type Registry } from "prom-client";
import { BucketCounts } from "../metrics/bucket-counts.ts";

export interface Named {
  name: string;
  help: string;
}

/** A counter with one label set per key; keys join label values with a tab. */
export class Tally {
  readonly #counts = new Map<string, number>();

  constructor(named: Named, labelNames: readonly string[], metrics: Registry) {
    const counts = this.#counts;
    new Counter({
      ...named,
      labelNames,
      registers: [metrics],
      collect() {
        this.reset();
        for (const [key, count] of counts) {
          const values = key.split("\t");
          this.inc(Object.fromEntries(labelNames.map((label, at) => [label, values[at] ?? ""])), count);
        }
      },
    });
  }

  add(key: string, count = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }
}

/** A histogram without labels. */
export class DurationTally extends Histogram {
  readonly #counts: BucketCounts;

  constructor(
    private readonly named: Named,
    bounds: number[],
    metrics: Registry,
  ) {
    super({ ...named, buckets: bounds, registers: [metrics] });
    this.#counts = new BucketCounts(bounds);
  }

  add(seconds: number): void {
    this.#counts.observe(seconds);
  }

  /** The registry reads the values here. The library's own method would read only its own counts. */
  async getForPromString() {
    const values = [...this.#counts.samples(this.named.name)];
    return { ...this.named, type: "histogram", aggregator: "sum", values };
  }
}
