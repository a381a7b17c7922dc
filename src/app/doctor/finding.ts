// What a check of `doctor` found, in one shape for all of them. A check that cannot be made has failed; why is its detail.

import { asStorageError, RESTORE } from "../../platform/database/storage-errors.ts";
import { DomainError } from "../../platform/errors.ts";

export type Result = "ok" | "warning" | "failed" | "skipped";

export interface Finding {
  /** name of the check, in snake_case; of an outside service its own name */
  check: string;
  result: Result;
  /** what is so */
  detail: string;
  /** what to do about it; null where nothing is to be done */
  remedy: string | null;
}

/** A check whose name is known. */
export interface Check {
  ok(detail: string): Finding;
  warning(detail: string, remedy: string): Finding;
  failed(detail: string, remedy: string): Finding;
  skipped(detail: string): Finding;
}

/** @returns what makes the findings of one check */
export const checkOf = (check: string): Check => ({
  ok: (detail) => ({ check, result: "ok", detail, remedy: null }),
  warning: (detail, remedy) => ({ check, result: "warning", detail, remedy }),
  failed: (detail, remedy) => ({ check, result: "failed", detail, remedy }),
  skipped: (detail) => ({ check, result: "skipped", detail, remedy: null }),
});

type Found = Finding | readonly Finding[];

const SEE_LOG = "see the log of the service";

/**
 * @param remedy for what cannot be looked at and whose error does not say what to do
 * @returns what `look` found; what it throws is a failure of the check, told as the error tells it
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
    return [check.failed(reasonOf(error), (error instanceof DomainError && error.hint) || remedy)];
  }
}

/**
 * Pages of a damaged database are noticed by whichever check reads them. That check says nothing about its own subject then, and
 * the damage is told once, of the database.
 */
export class DamageCollector {
  #first: { check: string; error: DomainError } | undefined;

  /** `examine`, except that damage of the database is kept for `judge` */
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

  /** @param opening findings of the check that opened the database @returns the same, or the damage that was met since */
  judge(opening: Finding[]): Finding[] {
    if (!this.#first) return opening;
    const { check, error } = this.#first;
    return [
      checkOf("database").failed(`${error.message}, noticed by the check ${check}`, error.hint ?? RESTORE),
    ];
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof DomainError)) return `the check could not be made: ${String(error)}`;
  const { message, problems } = error;
  const news = problems.map(({ detail }) => detail).filter((detail) => !message.includes(detail));
  return [message, ...news].join("; ");
}
