// A counter for events of every request. Counting adds to a plain number, because the library would write the labels of each event as
// text. The registry reads the numbers when it is asked.
import { Counter, type Registry } from "prom-client";

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
