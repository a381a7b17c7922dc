// Finds the origin of mirrored packages: the source that a package names, and the commit of its archive.
import type { Connection } from "../../../platform/database/database.ts";
import { type Coordinates, isRef } from "../connections/coordinates.ts";
import { type Mirrored, mirrorsOf } from "../mirroring/mirror-store.ts";
import type { ManagedPackage } from "../model.ts";

/** The repository that a `source_ref` names. */
export interface NamedSource extends Coordinates {
  connectionId: string;
}

export interface PackageOrigin extends NamedSource {
  /** whole object name */
  commit: string;
  /** kind of `ref`, if the archive was first mirrored from it */
  refKind: Mirrored["mirror"]["refKind"] | undefined;
  mirror: Mirrored["mirror"];
}

const SOURCE = /^[a-z]+:\/\/(?<connectionId>[^/]+)\/(?<repository>[^@#]+)@(?<ref>[^#]+)(?:#(?<path>.+))?$/;

/** @returns the repository that a `source_ref` of a connection names; undefined for any other text */
function readSourceRef(text: string): NamedSource | undefined {
  const { connectionId, repository, ref, path = "" } = SOURCE.exec(text)?.groups ?? {};
  if (connectionId === undefined || repository === undefined || ref === undefined) return undefined;
  if (!isRef(ref)) return undefined; // a policy may name anything
  return { connectionId, repository, ref, path };
}

/** @returns the origin of a package's archive; undefined if it was not mirrored */
export function originOf(
  connection: Connection,
  organizationId: string,
  { artifact_id: artifactId, source_ref }: Pick<ManagedPackage, "artifact_id" | "source_ref">,
): PackageOrigin | undefined {
  const named = readSourceRef(source_ref);
  if (!named || artifactId === undefined) return undefined;
  const mirrored = mirrorsOf(connection, organizationId, artifactId).find(
    ({ mirror }) =>
      mirror.connectionId === named.connectionId &&
      mirror.repository === named.repository &&
      mirror.path === named.path,
  );
  if (!mirrored) return undefined;
  const { commit, ref, refKind } = mirrored.mirror;
  return { ...named, commit, refKind: ref === named.ref ? refKind : undefined, mirror: mirrored.mirror };
}
