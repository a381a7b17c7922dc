// The errors of named-server.ts, and the time limit of its steps. Messages may name the server, because the operator named it.
import { within } from "../clock.ts";
import { codeOf, DomainError } from "../errors.ts";

/** @throws what `work` throws; DomainError `probe.too_slow` after the limit */
export async function withinTime<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
  const done = await within(
    limitMs,
    work.then((value) => ({ value })),
  );
  if (!done) throw tooSlow(what, limitMs);
  return done.value;
}

/** @param what description of the failure, which the time limit follows */
export const tooSlow = (what: string, limitMs: number): DomainError =>
  fault("too_slow", `${what} within ${limitMs / 1_000} s`);

/** @returns the error itself if it is a DomainError; otherwise `probe.<reason>` with the code of the error */
export const asFault = (error: unknown, reason: string, message: string): DomainError =>
  error instanceof DomainError ? error : fault(reason, `${message}${codeText(error)}`, error);

/** @returns the short name of the error in parentheses */
export const codeText = (error: unknown): string => {
  if (!(error instanceof Error)) return "";
  return ` (${codeOf(error) ?? error.message})`;
};

/** @returns the error `probe.<reason>` */
export const fault = (reason: string, message: string, cause?: unknown): DomainError =>
  new DomainError("unavailable", `probe.${reason}`, message, { cause });
