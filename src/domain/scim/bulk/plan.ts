// Orders the operations of a bulk request: as in the request, but after the creation of everything that they refer to. Does not
// depend on resource types; references.ts finds references.

/** The parts of an operation that determine its order. */
export interface Dependent {
  /** the bulkId under which others refer to the created resource */
  creates: string | undefined;
  /** bulkIds that it refers to; unknown ones do not delay it */
  needs: ReadonlySet<string>;
}

export interface Step<Operation> {
  operation: Operation;
  /** `first` creates a resource without the references in `later`, `second` sets them; only cycles need that */
  part: "whole" | "first" | "second";
  /** bulkIds that are created after this operation; empty unless it is a part */
  later: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * @param operations in the order of the request
 * @returns every operation once, or as two parts
 * @source SCIM-106 and SCIM-107
 */
export function planBulk<Operation extends Dependent>(
  operations: readonly Operation[],
): readonly Step<Operation>[] {
  const plan = new Plan(operations);
  for (const at of operations.keys()) plan.reach(at);
  for (const at of operations.keys()) plan.breakCycles(at);
  return plan.steps;
}

class Plan<Operation extends Dependent> {
  readonly steps: Step<Operation>[] = [];
  readonly #creators = new Map<string, number>();
  readonly #dependents = new Map<string, number[]>();
  /** by operation: references to resources that do not exist yet */
  readonly #missing: Set<string>[];
  readonly #waiting = new Set<number>();
  readonly #halves = new Map<number, ReadonlySet<string>>();

  constructor(readonly operations: readonly Operation[]) {
    for (const [at, { creates }] of operations.entries())
      if (creates !== undefined) this.#creators.set(creates, at);
    this.#missing = operations.map(({ needs }) => needs.intersection(this.#creators));
    for (const [at, missing] of this.#missing.entries())
      for (const bulkId of missing)
        this.#dependents.set(bulkId, [...(this.#dependents.get(bulkId) ?? []), at]);
  }

  reach(at: number): void {
    this.#waiting.add(at);
    if (this.#missingOf(at).size === 0) this.#attempt(at);
  }

  /** Splits blocked operations until none is blocked. */
  breakCycles(at: number): void {
    while (this.#waiting.has(at) && !this.#halves.has(at)) {
      const split = this.#onCycleBefore(at);
      const later = new Set(this.#missingOf(split));
      this.#halves.set(split, later);
      this.#add(split, "first", later);
      this.#release(split);
    }
  }

  /** Follows the dependencies until one repeats. */
  #onCycleBefore(at: number): number {
    const seen = new Set<number>();
    let on = at;
    while (!seen.has(on)) {
      seen.add(on);
      const [bulkId = ""] = this.#missingOf(on);
      on = this.#creators.get(bulkId) ?? on;
    }
    return on;
  }

  #attempt(at: number): void {
    const later = this.#halves.get(at);
    this.#waiting.delete(at);
    this.#add(at, later ? "second" : "whole", later ?? NOTHING);
    if (!later) this.#release(at);
  }

  /** Operations without other dependencies come next, in their order. */
  #release(at: number): void {
    const bulkId = this.operations[at]?.creates ?? "";
    for (const dependent of this.#dependents.get(bulkId) ?? []) {
      const missing = this.#missingOf(dependent);
      missing.delete(bulkId);
      if (missing.size === 0 && this.#waiting.has(dependent)) this.#attempt(dependent);
    }
  }

  #add(at: number, part: Step<Operation>["part"], later: ReadonlySet<string>): void {
    const operation = this.operations[at];
    if (operation) this.steps.push({ operation, part, later });
  }

  #missingOf = (at: number): Set<string> => this.#missing[at] ?? new Set();
}
