// Metrics of what happens with every request. Counting adds to plain numbers and lists: prom-client checks and joins labels at each
// call, which takes longer than the rest of a small answer. The registry gets them when it is read.
import { Counter, Histogram, type Registry } from "prom-client";

export interface Named {
  name: string;
  help: string;
}

/** A counter with one label set per key; keys join label values with a tab. */
export class BufferedCounter {
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

  /** @param count 0 makes the series start at zero */
  add(key: string, count = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }
}

/** BufferedHistogram that may wait to be read, so that memory stays bounded while nobody reads the metrics. */
export const WAITING_MAX = 1_000;

/** A histogram of durations with one label. */
export class BufferedHistogram {
  readonly #histogram: Histogram;
  #waiting: { value: string; seconds: number }[] = [];

  /** @param buckets upper bounds in seconds */
  constructor(
    named: Named,
    private readonly label: string,
    { buckets, metrics }: { buckets: number[]; metrics: Registry },
  ) {
    const collect = () => this.#drain();
    this.#histogram = new Histogram({
      ...named,
      buckets,
      labelNames: [label],
      registers: [metrics],
      collect,
    });
  }

  /** Makes the series of a label value start at zero. */
  zero(value: string): void {
    this.#histogram.zero({ [this.label]: value });
  }

  add(value: string, seconds: number): void {
    if (this.#waiting.push({ value, seconds }) >= WAITING_MAX) this.#drain();
  }

  #drain(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { value, seconds } of waiting) this.#histogram.observe({ [this.label]: value }, seconds);
  }
}
