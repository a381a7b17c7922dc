// Why sums of usage were not stored, for the log of the service.
import { DomainError } from "../../platform/errors.ts";
import type { LogFields } from "../../platform/observe/log.ts";

/** @returns fields for the log; a known condition of the machine, such as a full disk, has no stack */
export function usageFailure(error: unknown): LogFields {
  if (!(error instanceof DomainError)) return { error };
  const { reason, message, hint: next } = error;
  return { reason, message, next };
}
