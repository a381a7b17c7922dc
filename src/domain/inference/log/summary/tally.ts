// Counts requests, their results, and how long the upstream took to begin a response. Tallies can be added, so the latencies
// are a histogram: percentiles cannot be added.
import { RESULTS, type Result, resultOf } from "../model.ts";
import type { RequestRow } from "../record.ts";

/** Histogram classes per doubling, so that a percentile is at most 5 % off. */
const CLASSES_PER_DOUBLING = 8;

/** The members of a row that are counted. */
export type CountedRow = Pick<
  RequestRow,
  "httpStatus" | "upstreamLatencyMs" | "outcome" | "requestId" | "model" | "userId"
>;

/** Figures of requests. Latencies are milliseconds until the upstream began to respond, for requests that reached it. */
export interface Figures {
  requests: number;
  /** by this service, before calling the upstream */
  refused: number;
  results: Readonly<Record<Result, number>>;
  /** null if no request reached the upstream */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** The stored form of a tally: requests, refused ones, results in the order of RESULTS, then pairs of class and count. */
export type StoredTally = readonly [
  requests: number,
  refused: number,
  results: number[],
  latencies: number[],
];

export type StoredTallies = readonly (readonly [name: string, tally: StoredTally])[];

export class Tally {
  #requests = 0;
  #refused = 0;
  readonly #results = RESULTS.map(() => 0);
  /** number of requests by class of their latency */
  readonly #latencies = new Map<number, number>();

  /** @returns whether the row was counted; unfinished requests are not */
  count({ httpStatus, upstreamLatencyMs, outcome, requestId }: CountedRow): boolean {
    if (outcome === null && requestId !== null) return false;
    this.#requests += 1;
    this.#addResult(RESULTS.indexOf(resultOf(httpStatus)), 1);
    if (outcome === "refused") this.#refused += 1;
    else this.#addLatency(classOf(upstreamLatencyMs), 1);
    return true;
  }

  add([requests, refused, results, latencies]: StoredTally): void {
    this.#requests += requests;
    this.#refused += refused;
    for (const [at, number] of results.entries()) this.#addResult(at, number);
    for (let at = 0; at + 1 < latencies.length; at += 2)
      this.#addLatency(latencies[at] ?? 0, latencies[at + 1] ?? 0);
  }

  get requests(): number {
    return this.#requests;
  }

  stored(): StoredTally {
    return [this.#requests, this.#refused, this.#results, [...this.#latencies].flat()];
  }

  figures(): Figures {
    const [success = 0, redirect = 0, clientError = 0, serverError = 0, transportError = 0] = this.#results;
    return {
      requests: this.#requests,
      refused: this.#refused,
      results: {
        success,
        redirect,
        client_error: clientError,
        server_error: serverError,
        transport_error: transportError,
      },
      p50Ms: this.#percentile(0.5),
      p95Ms: this.#percentile(0.95),
    };
  }

  #addResult(at: number, number: number): void {
    this.#results[at] = (this.#results[at] ?? 0) + number;
  }

  #addLatency(latency: number, number: number): void {
    this.#latencies.set(latency, (this.#latencies.get(latency) ?? 0) + number);
  }

  /** @returns the middle of the class of the request at that share of all */
  #percentile(share: number): number | null {
    const classes = [...this.#latencies].sort(([one], [other]) => one - other);
    const total = classes.reduce((sum, [, number]) => sum + number, 0);
    let before = 0;
    for (const [latency, number] of classes) {
      before += number;
      if (before >= share * total) return middleOf(latency);
    }
    return null;
  }
}

/** @returns 0 below one millisecond, or else the number of the class from 1 */
const classOf = (ms: number): number => (ms < 1 ? 0 : 1 + Math.floor(Math.log2(ms) * CLASSES_PER_DOUBLING));

const middleOf = (latency: number): number =>
  latency === 0 ? 0 : Math.round(2 ** ((latency - 0.5) / CLASSES_PER_DOUBLING));

/** Tallies by name; rows without a name count under the empty name. */
export class Tallies {
  readonly #byName = new Map<string, Tally>();

  of(name: string): Tally {
    const known = this.#byName.get(name);
    if (known) return known;
    const tally = new Tally();
    this.#byName.set(name, tally);
    return tally;
  }

  add(stored: StoredTallies): void {
    for (const [name, tally] of stored) this.of(name).add(tally);
  }

  stored(): StoredTallies {
    return [...this.#byName].map(([name, tally]) => [name, tally.stored()]);
  }

  /** @returns the tallies with the most requests, in this order; equal ones by name */
  most(limit: number): { name: string; figures: Figures }[] {
    return [...this.#byName]
      .filter(([, { requests }]) => requests > 0)
      .sort(([name, one], [before, other]) => other.requests - one.requests || (name < before ? -1 : 1))
      .slice(0, limit)
      .map(([name, tally]) => ({ name, figures: tally.figures() }));
  }
}
