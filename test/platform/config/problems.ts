// Collects the problems of an operation that is refused.
import { DomainError } from "../../../src/platform/errors.ts";

/** @returns the details of the problems; none if the work succeeds */
export function problemsOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error.problems.map(({ detail }) => detail);
    throw error;
  }
  return [];
}
