// A mirrored commit as an administrator sees it before publishing it.
import type { Connection } from "../connections/connection.ts";
import type { Coordinates } from "../connections/coordinates.ts";
import type { RefKind } from "../connections/hosts/host.ts";
import { HOSTS } from "../connections/hosts/hosts.ts";
import { type Resolved, sourceRefOf } from "../connections/resolve.ts";
import type { KeptArchive } from "../sources/kept-archives.ts";
import type { Mirrored } from "./mirror-store.ts";

/** Facts that are stored with a mirrored commit, so that responses need not read its archive again. */
export interface MirrorView extends Pick<KeptArchive, "paths" | "runtimeDownloads" | "adapters"> {
  /** the first SKIPPED_LISTED_MAX skipped symbolic links */
  skipped: string[];
}

export interface MirroredSource extends KeptArchive {
  sourceRef: string;
  commit: string;
  repository: {
    refKind: RefKind;
    committedAtMs: number | undefined;
    skipped: string[];
    /** digest of the archive that the host sent */
    hostSha256: string;
  };
}

/** @returns the source, with the currently requested ref */
export function mirroredSourceOf(
  { mirror, artifact }: Mirrored,
  { connection, coordinates, found }: { connection: Connection; coordinates: Coordinates; found: Resolved },
): MirroredSource {
  const { skipped, ...view }: MirrorView = JSON.parse(mirror.view);
  return {
    ...artifact,
    ...view,
    artifactId: mirror.artifactId,
    sourceRef: sourceRefOf(HOSTS[connection.provider].scheme, connection, coordinates),
    commit: mirror.commit,
    repository: {
      refKind: found.kind,
      committedAtMs: mirror.committedAtMs ?? undefined,
      skipped,
      hostSha256: mirror.hostSha256,
    },
  };
}
