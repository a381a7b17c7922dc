// Reads an administrator's request to inspect a package source: which of the two forms it has, and its problems.
// package-sources.ts fetches the source.
import { DomainError, type Problem } from "../../../platform/errors.ts";

/** The request of an administrator: one public source, or a repository of a connection, which takes precedence. */
export interface SourceRequest {
  source_ref?: string;
  connection_id?: string;
  repository?: string;
  ref?: string;
}

const REPOSITORY = /^(?!\.{1,2}\/)[A-Za-z0-9._-]+\/(?!\.{1,2}$)[A-Za-z0-9._-]+$/;

/**
 * @returns the public source, trimmed but not parsed
 * @throws DomainError `package_source.invalid` with every missing or invalid member, `package_source.unknown_connection`
 */
export function readSourceRequest(request: SourceRequest): string {
  if (request.connection_id !== undefined) throw refuseManaged(request);
  const source = request.source_ref?.trim() ?? "";
  if (source !== "") return source;
  throw invalidRequest([
    { pointer: "/source_ref", detail: "must be an https URL or github:owner/repository@ref" },
  ]);
}

/** A malformed request is reported before an unknown connection. */
function refuseManaged({ repository = "", ref = "" }: SourceRequest): DomainError {
  const problems = [
    ...(REPOSITORY.test(repository) ? [] : [{ pointer: "/repository", detail: "must be namespace/name" }]),
    ...(ref.trim() === "" ? [{ pointer: "/ref", detail: "must be a branch, a tag or a commit" }] : []),
  ];
  if (problems.length > 0) return invalidRequest(problems);
  return new DomainError(
    "not_found",
    "package_source.unknown_connection",
    "there is no repository connection of that id",
    { hint: "name a public source with source_ref instead" },
  );
}

function invalidRequest(problems: readonly Problem[]): DomainError {
  const list = problems.map(({ pointer, detail }) => `${pointer} ${detail}`).join("; ");
  return new DomainError("invalid", "package_source.invalid", `the request is not valid: ${list}`, {
    problems,
  });
}
