// A second copy of the sums that this process wrote to the file of the request log, kept until they are counted, because the
// file may be deleted before that.
import { addSums, type Sums, type UsageDelta } from "./model.ts";

export class UncountedSums {
  readonly #sums = new Map<string, UsageDelta>();
  /** a process that does not count keeps no copies, because it never learns which sums were counted */
  #isCounting = false;

  /** @returns the sums that wait to be counted */
  all(): UsageDelta[] {
    return [...this.#sums.values()];
  }

  handedOver(deltas: readonly UsageDelta[]): void {
    if (this.#isCounting) for (const delta of deltas) this.#add(delta);
  }

  /** @param taken the batch that is counted now; undefined if none waits */
  took(taken: readonly UsageDelta[] | undefined): void {
    this.#isCounting = true;
    if (taken === undefined) this.#sums.clear();
    for (const delta of taken ?? [])
      if (this.#sums.has(keyOf(delta))) this.#add({ ...delta, ...negated(delta) });
  }

  #add(delta: UsageDelta): void {
    const key = keyOf(delta);
    const sums = this.#sums.get(key);
    if (!sums) this.#sums.set(key, { ...delta });
    else addSums(sums, delta);
    if (sums && sums.requests + sums.refused <= 0) this.#sums.delete(key);
  }
}

const negated = (sums: Sums): Sums => ({
  requests: -sums.requests,
  refused: -sums.refused,
  inputTokens: -sums.inputTokens,
  outputTokens: -sums.outputTokens,
  cacheReadTokens: -sums.cacheReadTokens,
  cacheWriteTokens: -sums.cacheWriteTokens,
  cost: -sums.cost,
});

const keyOf = ({ organizationId, day, userId, model, harness }: UsageDelta): string =>
  JSON.stringify([organizationId, day, userId, model, harness]);
