// The result of a `doctor` check. A check that throws counts as failed, with the error as its detail.

import type { CheckFinding } from "../../domain/system/operations.ts";
import { asStorageError, RESTORE } from "../../platform/database/storage-errors.ts";
import { DomainError } from "../../platform/errors.ts";
import { isOutOfMemory, memoryLimitText } from "../../platform/memory/memory-limits.ts";

/** The result of one check. */
export type Finding = CheckFinding;

/** Creates findings under the name of one check. */
export interface Check {
  ok(detail: string): Finding;
  warning(detail: string, remedy: string): Finding;
  failed(detail: string, remedy: string): Finding;
  skipped(detail: string): Finding;
}

export const checkOf = (check: string): Check => ({
  ok: (detail) => ({ check, result: "ok", detail, remedy: null }),
  warning: (detail, remedy) => ({ check, result: "warning", detail, remedy }),
  failed: (detail, remedy) => ({ check, result: "failed", detail, remedy }),
  skipped: (detail) => ({ check, result: "skipped", detail, remedy: null }),
});

type Found = Finding | readonly Finding[];

const SEE_LOG = "see the log of the service";

/**
 * Runs a check. If it throws, the result is a failed finding with the error's text.
 * @param remedy used if the error does not say how to fix it
 */
export async function examine(
  name: string,
  look: (check: Check) => Found | Promise<Found>,
  remedy = SEE_LOG,
): Promise<Finding[]> {
  const check = checkOf(name);
  try {
    return [await look(check)].flat();
  } catch (error) {
    if (isOutOfMemory(error))
      return [check.failed("out of memory during this check", `${memoryLimitText()}; raise it`)];
    return [check.failed(reasonOf(error), (error instanceof DomainError && error.hint) || remedy)];
  }
}

/**
 * Collects database damage from all checks and reports it once, under the database. Any check may be the first to read a damaged
 * page, and it then reports nothing about its own subject.
 */
export class DamageCollector {
  #first: { check: string; error: DomainError } | undefined;

  /** like the function `examine`, but keeps database damage for `findingsWithDamage` */
  examine(name: string, look: (check: Check) => Found | Promise<Found>): Promise<Finding[]> {
    return examine(name, async (check) => {
      try {
        return await look(check);
      } catch (thrown) {
        const error = asStorageError(thrown);
        if (!(error instanceof DomainError) || error.reason !== "storage.damaged") throw error;
        this.#first ??= { check: name, error };
        return check.skipped("could not be read: see the check database");
      }
    });
  }

  /**
   * @param opening findings of the check that opened the database
   * @returns the same findings, or the damage that later checks met
   */
  findingsWithDamage(opening: Finding[]): Finding[] {
    if (!this.#first) return opening;
    const { check, error } = this.#first;
    return [
      checkOf("database").failed(`${error.message}, found by the check ${check}`, error.hint ?? RESTORE),
    ];
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof DomainError)) return `the check failed to run: ${String(error)}`;
  const { message, problems } = error;
  const news = problems.map(({ detail }) => detail).filter((detail) => !message.includes(detail));
  return [message, ...news].join("; ");
}
