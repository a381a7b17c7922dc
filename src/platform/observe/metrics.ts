// Counts and measures for Prometheus: our naming rules over prom-client.
// Which figures exist is said where they change; who may read them is the server's to decide.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { invariant } from "../errors.ts";

const PREFIX = "quartermaster_";
const OTHER = "other";

/** Distinct values of one label; whatever comes later is counted under `other`. */
export const LABEL_VALUES_MAX = 200;

/** Labels that would name a person or a machine, carry a credential, or grow without end. */
const FORBIDDEN_LABELS = new Set(["user", "user_id", "host", "hostname", "email", "token", "path", "url"]);

/** Label names in order, each with the values known beforehand; their combinations start at zero. */
export type Labels = Readonly<Record<string, readonly string[]>>;

export interface CounterHandle {
  /** @param by at least 0; 1 when left out */
  inc(by?: number): void;
}

export interface GaugeHandle {
  set(value: number): void;
  inc(by?: number): void;
  dec(by?: number): void;
}

export interface HistogramHandle {
  observe(value: number): void;
}

/** A metric with its labels open. Resolve a handle once and keep it: that is the cheap path. */
export interface Family<Handle> {
  /** @param values one for each label, in the order of the definition */
  labels(...values: string[]): Handle;
}

/** Sets the present value of one label combination while the page is rendered. */
export type ReadGauge = (set: (value: number, ...labelValues: string[]) => void) => void;

export interface Metrics {
  /** @param name without prefix, ending in `_total` */
  counter(name: string, help: string, options?: { labels?: Labels }): Family<CounterHandle>;
  /** @param options `read` is called at each rendering and replaces all values; what it throws fails the rendering */
  gauge(name: string, help: string, options?: { labels?: Labels; read?: ReadGauge }): Family<GaugeHandle>;
  /** @param options `buckets` are ascending upper bounds in base units (seconds, bytes) */
  histogram(
    name: string,
    help: string,
    options: { labels?: Labels; buckets: readonly number[] },
  ): Family<HistogramHandle>;
  /** Has `work` done at each rendering, before any value is read; what it throws fails the rendering. */
  beforeRender(work: () => void | Promise<void>): void;
  /** the Content-Type of `render()` */
  readonly contentType: string;
  /** @returns every metric in the Prometheus text format 0.0.4 */
  render(): Promise<string>;
}

/** @returns an empty registry; a name used twice, a name or label against the rules is a bug and throws */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const untold: Unflushed = new Set();
  const preparations: (() => void | Promise<void>)[] = [];
  return {
    contentType: registry.contentType,
    beforeRender: (work) => void preparations.push(work),
    async render() {
      for (const prepare of preparations) await prepare();
      for (const tell of untold) tell();
      untold.clear();
      return await registry.metrics();
    },
    counter(name, help, { labels = {} } = {}) {
      invariant(name.endsWith("_total"), `counter ${name} ends in _total`);
      const metric = new Counter(definition(registry, labels, { name, help }));
      return family(labels, (values) => {
        const handle = metric.labels(...values);
        handle.inc(0);
        return bufferedCounter(handle, untold);
      });
    },
    gauge(name, help, { labels = {}, read } = {}) {
      const metric = new Gauge(definition(registry, labels, { name, help }));
      const gauges = family(labels, (values) => {
        const handle = metric.labels(...values);
        handle.inc(0);
        return handle;
      });
      if (read) Object.assign(metric, { collect: () => readAgain(metric, { gauges, labels, read }) });
      return gauges;
    },
    histogram(name, help, { labels = {}, buckets }) {
      const shape = definition(registry, labels, { name, help });
      const metric = new Histogram({ ...shape, buckets: [...buckets] });
      const names = Object.keys(labels);
      for (const values of combinations(Object.values(labels)))
        metric.zero(Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])));
      return family(labels, (values) => bufferedHistogram(metric.labels(...values), untold));
    },
  };
}

/** What hands kept figures to prom-client, which finds a series by its labels anew each time: 1 µs of a request's 15. */
type Unflushed = Set<() => void>;

/** Values kept before prom-client gets them, rendered or not. */
const KEPT_VALUES_MAX = 256;

function bufferedCounter(handle: CounterHandle, untold: Unflushed): CounterHandle {
  let kept = 0;
  const tell = () => {
    handle.inc(kept);
    kept = 0;
  };
  return {
    inc(by = 1) {
      invariant(by >= 0, "a counter does not go down");
      if (kept === 0) untold.add(tell);
      kept += by;
    },
  };
}

function bufferedHistogram(handle: HistogramHandle, untold: Unflushed): HistogramHandle {
  let kept: number[] = [];
  const tell = () => {
    for (const value of kept) handle.observe(value);
    kept = [];
  };
  return {
    observe(value) {
      invariant(Number.isFinite(value), "a histogram observes numbers");
      kept.push(value);
      if (kept.length === 1) untold.add(tell);
      else if (kept.length >= KEPT_VALUES_MAX) tell();
    },
  };
}

function definition(registry: Registry, labels: Labels, { name, help }: { name: string; help: string }) {
  invariant(!name.startsWith(PREFIX), `${name} is written without the prefix`);
  for (const label of Object.keys(labels)) {
    invariant(!FORBIDDEN_LABELS.has(label), `metric ${name} has no label ${label}`);
  }
  return { name: PREFIX + name, help, labelNames: Object.keys(labels), registers: [registry] };
}

interface Reading {
  gauges: Family<GaugeHandle>;
  labels: Labels;
  read: ReadGauge;
}

function readAgain(metric: Gauge, { gauges, labels, read }: Reading): void {
  metric.reset();
  for (const values of combinations(Object.values(labels))) gauges.labels(...values);
  read((value, ...labelValues) => gauges.labels(...labelValues).set(value));
}

/** @param resolve makes the handle for admitted values; for counters and gauges it also starts the series at zero */
function family<Handle>(labels: Labels, resolve: (values: string[]) => Handle): Family<Handle> {
  const known = Object.values(labels);
  const seen = known.map((values) => new Set(values));
  for (const values of combinations(known)) resolve(values);
  return {
    labels(...values) {
      invariant(values.length === seen.length, `a handle needs ${seen.length} label values`);
      return resolve(values.map((value, index) => boundedLabels(value, seen[index])));
    },
  };
}

function boundedLabels(value: string, seen: Set<string> | undefined): string {
  if (!seen || seen.has(value)) return value;
  if (seen.size >= LABEL_VALUES_MAX) return OTHER;
  seen.add(value);
  return value;
}

const combinations = (known: readonly (readonly string[])[]): string[][] =>
  known.reduce<string[][]>(
    (rows, values) => rows.flatMap((row) => values.map((value) => [...row, value])),
    [[]],
  );
