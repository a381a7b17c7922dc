// Resolves a ref to a commit, after checking that the host answered about the named repository.
import type { Connection } from "./connection.ts";
import { type Coordinates, isCommit } from "./coordinates.ts";
import { sourceFault } from "./errors.ts";
import type { Ask, FoundCommit, Host, NamedRef, RefKind } from "./hosts/host.ts";

export interface Resolved extends FoundCommit {
  kind: RefKind;
}

/**
 * @returns the commit
 * @throws DomainError `source.repository_not_found`, `source.renamed`, `source.ref_not_found`, `source.ref_ambiguous`; those of `ask`
 */
export async function resolveRef(
  host: Host,
  ask: Ask,
  { repository, ref }: Pick<Coordinates, "repository" | "ref">,
): Promise<Resolved> {
  const commitOf = (named: NamedRef) => host.commit(ask, repository, named);
  // A full commit id needs no branch or tag, so its request starts now. An error of the repository takes precedence over its error.
  const commitRequest = isCommit(ref) ? commitOf(namedRef(ref, {})) : undefined;
  commitRequest?.catch(() => undefined);
  const namedRequests = commitRequest
    ? []
    : [host.branch(ask, repository, ref), host.tag(ask, repository, ref)];
  const [fullName, branch, tag] = await Promise.all([host.fullName(ask, repository), ...namedRequests]);
  if (fullName === undefined) throw sourceFault("repository_not_found");
  if (fullName.toLowerCase() !== repository.toLowerCase()) throw sourceFault("renamed");
  const named = namedRef(ref, { branch, tag });
  const found = await (commitRequest ?? commitOf(named));
  if (!found) throw sourceFault("ref_not_found");
  if (!isCommit(found.commit)) throw sourceFault("bad_answer");
  if (named.kind === "commit" && found.commit !== ref) throw sourceFault("bad_answer");
  return { ...found, kind: named.kind };
}

function namedRef(
  ref: string,
  { branch, tag }: { branch?: string | undefined; tag?: string | undefined },
): NamedRef {
  if (isCommit(ref)) return { kind: "commit", ref, object: ref };
  if (branch !== undefined && tag !== undefined) throw sourceFault("ref_ambiguous");
  if (branch !== undefined) return { kind: "branch", ref, object: branch };
  if (tag !== undefined) return { kind: "tag", ref, object: tag };
  throw sourceFault("ref_not_found");
}

/** @returns the `source_ref` of a mirrored archive */
export const sourceRefOf = (
  scheme: string,
  { id }: Pick<Connection, "id">,
  { repository, ref, path }: Coordinates,
): string => `${scheme}://${id}/${repository}@${ref}${path === "" ? "" : `#${path}`}`;
