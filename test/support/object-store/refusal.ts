// The error of an operation that must fail, with the parts visible to a caller and in the log.
import { inspect } from "node:util";
import { DomainError } from "../../../src/platform/errors.ts";

/** @throws if it succeeds, or fails with another error */
export async function refusalOf(
  attempt: Promise<unknown>,
): Promise<{ reason: string; message: string; logged: string }> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DomainError)) throw new Error(`expected a DomainError, got ${error}`);
  return { reason: error.reason, message: error.message, logged: inspect(error, { depth: 9 }) };
}
