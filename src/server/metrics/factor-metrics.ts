// Counts checks of second factors. Labels come from fixed lists, never from a request.
import { Counter, type Registry } from "prom-client";
import {
  FACTOR_KINDS,
  type FactorKind,
  kindOf,
  type Proof,
} from "../../domain/access/second-factor/model.ts";
import { DomainError } from "../../platform/errors.ts";

const RESULTS = ["accepted", "refused"] as const;
type Result = (typeof RESULTS)[number];

/** Counts one check. */
export type CountFactor = (factor: FactorKind, result: Result) => void;

const WRONG = "access.second_factor_wrong";

/** @returns a function that counts one check; create it once */
export function createFactorMetrics(metrics: Registry): CountFactor {
  const checks = new Counter({
    name: "quartermaster_second_factor_checks_total",
    help: "Checks of a second factor by kind and result",
    labelNames: ["factor", "result"],
    registers: [metrics],
  });
  for (const factor of FACTOR_KINDS) for (const result of RESULTS) checks.inc({ factor, result }, 0);
  return (factor, result) => checks.inc({ factor, result });
}

/**
 * Counts the outcome of work that checks a proof; other failures do not count.
 * @param proof undefined if none was given
 * @returns the result of the work
 */
export async function counted<T>(work: Promise<T>, proof: Proof | undefined, count: CountFactor): Promise<T> {
  try {
    const result = await work;
    if (proof) count(kindOf(proof), "accepted");
    return result;
  } catch (error) {
    if (proof && error instanceof DomainError && error.reason === WRONG) count(kindOf(proof), "refused");
    throw error;
  }
}
