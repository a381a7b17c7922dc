// Adds the most similar name to the error about a name that nothing has. Reading all names may take a moment, so only commands do it.
import { DomainError } from "../../src/platform/errors.ts";
import type { Context } from "../context.ts";

/** enough for a hundred thousand names */
const BUDGET_MS = 500;

/** Workstations choose their own names. A person may copy a proposal into a shell, so it has no character with a meaning there. */
const HARMLESS = /^[\p{L}\p{N}@._+:/-]+$/u;

/** @returns the error to report: the same, or one with the name as its hint */
export async function withProposal(
  error: unknown,
  { clock }: Pick<Context, "clock">,
  dataDirectory: string,
): Promise<unknown> {
  if (!(error instanceof DomainError) || error.missing === undefined) return error;
  const { kind, reason, message, missing } = error;
  const { nearestName } = await import("../../src/app/installation/known-names.ts");
  const wanted = { ...missing, clock, deadlineMs: clock.nowMs() + BUDGET_MS };
  const nearest = nearestName(dataDirectory, wanted);
  if (nearest === undefined || !HARMLESS.test(nearest)) return error;
  return new DomainError(kind, reason, message, { hint: `did you mean ${nearest}?`, cause: error });
}
