// Reads an administrator's request to mirror a commit, and decides whether the organization may use that repository, all
// without the network.
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { quoted } from "../archive/limits.ts";
import type { Connection } from "../connections/connection.ts";
import {
  type Coordinates,
  FOLDER_CHARACTERS_MAX,
  isFolder,
  isInNamespaces,
  isRef,
  isRepository,
  REF_CHARACTERS_MAX,
} from "../connections/coordinates.ts";
import { HOSTS } from "../connections/hosts/hosts.ts";
import { invalidRequest, type SourceRequest } from "../sources/source-request.ts";

/**
 * @returns what to mirror
 * @throws DomainError `package_source.invalid` with every missing or malformed member
 */
export function readCoordinates({ repository = "", ref = "", path = "" }: SourceRequest): Coordinates {
  const folder = path.replace(/\/$/, "");
  const problems: Problem[] = [
    ...(isRepository(repository, { nested: true })
      ? []
      : [{ pointer: "/repository", detail: "must be namespace/name, of letters, digits, -, _ and ." }]),
    ...(isRef(ref)
      ? []
      : [
          {
            pointer: "/ref",
            detail: `must be a branch, a tag or a whole commit, of at most ${REF_CHARACTERS_MAX} letters, digits, -, _, ., /, + and @, as git allows names: without .., // and @{, and no part ends with .lock`,
          },
        ]),
    ...(isFolder(folder)
      ? []
      : [
          {
            pointer: "/path",
            detail: `must be a folder below the root of the repository, of at most ${FOLDER_CHARACTERS_MAX} characters`,
          },
        ]),
  ];
  if (problems.length > 0) throw invalidRequest(problems);
  return { repository, ref, path: folder };
}

/**
 * @param connections all connections of the installation
 * @returns the connection
 * @throws DomainError `package_source.unknown_connection`, `package_source.invalid` if the host has no nested groups
 */
export function findConnection(
  connections: readonly Connection[],
  id: string,
  { repository }: Pick<Coordinates, "repository">,
): Connection {
  const found = connectionWith(connections, id);
  if (isRepository(repository, { nested: HOSTS[found.provider].isNested })) return found;
  throw invalidRequest([{ pointer: "/repository", detail: "must be namespace/name at this host" }]);
}

/** @returns the connection of this organization @throws DomainError `package_source.unknown_connection` */
export function connectionWith(connections: readonly Connection[], id: string): Connection {
  const found = connections.find((connection) => connection.id === id && connection.namespaces.length > 0);
  if (found) return found;
  throw unknownConnection(id);
}

/** @returns whether the organization may use that repository */
export const isAllowed = (
  { namespaces }: Connection,
  { repository }: Pick<Coordinates, "repository">,
): boolean => isInNamespaces(repository, namespaces);

/** @returns the error for a repository whose namespace the organization may not use */
export const namespaceRefused = (): DomainError =>
  new DomainError(
    "forbidden",
    "source.namespace_refused",
    "this organization may not use the namespace of that repository",
    { hint: "the operator adds it to organizations of the connection" },
  );

/** @returns the error for a connection that does not exist for the organization */
export const unknownConnection = (id: string): DomainError =>
  new DomainError(
    "not_found",
    "package_source.unknown_connection",
    `there is no repository connection ${quoted(id)}`,
    {
      hint: "`quartermaster connections list --config FILE` shows the connections, and why one is disabled",
      missing: { kind: "connection", name: id },
    },
  );

/** @param problems empty for a caller who may not see them @returns the error for an invalid connection */
export const connectionDisabled = (id: string, problems: readonly string[]): DomainError =>
  new DomainError(
    "invalid",
    "package_source.disabled_connection",
    `the repository connection ${quoted(id)} is disabled${problems.length === 0 ? "" : `: ${problems.join("; ")}`}`,
    {
      hint: "the operator corrects package_sources.connections in the configuration file; a command also needs the variables that the file refers to",
    },
  );
