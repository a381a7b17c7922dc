// Reads an administrator's request to inspect a package source, and reports its problems. package-sources.ts fetches the source.
import { DomainError, type Problem } from "../../../platform/errors.ts";

/** The request: one public source, or a repository of a connection, which takes precedence. */
export interface SourceRequest {
  source_ref?: string;
  connection_id?: string;
  repository?: string;
  ref?: string;
  /** folder of the repository that becomes the root of the archive */
  path?: string;
}

/**
 * @returns the public source, trimmed but not parsed
 * @throws DomainError `package_source.invalid`
 */
export function readSourceRequest(request: SourceRequest): string {
  const source = request.source_ref?.trim() ?? "";
  if (source !== "") return source;
  throw invalidRequest([
    { pointer: "/source_ref", detail: "must be an https URL or github:owner/repository@ref" },
  ]);
}

export function invalidRequest(problems: readonly Problem[]): DomainError {
  const list = problems.map(({ pointer, detail }) => `${pointer} ${detail}`).join("; ");
  return new DomainError("invalid", "package_source.invalid", `the request is not valid: ${list}`, {
    problems,
  });
}
