// Counts durations by bucket in plain numbers. The library's histogram would look up its labels for each duration.

export class BucketCounts {
  /** by the first bucket that fits; the last is for durations longer than all buckets */
  readonly #counts: number[];
  #seconds = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.#counts = [...bounds, Number.POSITIVE_INFINITY].map(() => 0);
  }

  get isEmpty(): boolean {
    return this.#counts.every((count) => count === 0);
  }

  observe(seconds: number): void {
    this.#seconds += seconds;
    let bucket = 0;
    while (seconds > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** @returns samples in the form of the library's histograms */
  *samples(name: string, sharedLabels: Readonly<Record<string, string>> = {}) {
    const sample = (part: string, value: number, labels: { le?: number | string } = {}) => ({
      metricName: `${name}_${part}`,
      labels,
      sharedLabels,
      value,
    });
    let count = 0;
    for (const [at, more] of this.#counts.entries()) {
      count += more;
      yield sample("bucket", count, { le: this.bounds[at] ?? "+Inf" });
    }
    yield sample("sum", this.#seconds);
    yield sample("count", count);
  }
}
