// Expected errors of the inventory.
import { DomainError, type Problem } from "../../platform/errors.ts";
import { quoted } from "../../platform/text/problem-list.ts";

/** @throws DomainError `client_report.invalid` with all problems, if there are any */
export function refuseReport(problems: readonly Problem[]): void {
  if (problems.length > 0) throw invalid("client_report.invalid", problems);
}

/** @throws DomainError `client.invalid` with all problems, if there are any */
export function refuseQuery(problems: readonly Problem[]): void {
  if (problems.length > 0) throw invalidQuery(problems);
}

/** @returns DomainError `client.invalid` with all problems */
export const invalidQuery = (problems: readonly Problem[]): DomainError =>
  invalid("client.invalid", problems);

function invalid(reason: string, problems: readonly Problem[]): DomainError {
  const message = problems.map(({ detail }) => detail).join("; ");
  return new DomainError("invalid", reason, message, { problems });
}

/** @param reference id, installation or host name as the caller wrote it */
export const clientNotFound = (reference: string): DomainError =>
  new DomainError("not_found", "client.not_found", `no workstation ${quoted(reference)} in the inventory`, {
    hint: "see `quartermaster clients list`",
    missing: { kind: "client", name: reference },
  });

/** @param ids some of the clients with that name */
export const clientAmbiguous = (ids: readonly string[]): DomainError =>
  new DomainError("conflict", "client.ambiguous", "several workstations have this name", {
    hint: `name one by its id: ${ids.join(", ")}`,
  });
