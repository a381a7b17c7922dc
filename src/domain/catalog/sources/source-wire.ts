// A package source as administrators see it before they publish it: the facts of its archive.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { PATHS_LISTED_MAX } from "../archive/archive-facts.ts";
import { ARCHIVE_LIMITS } from "../archive/limits.ts";
import { SKIPPED_LISTED_MAX } from "../mirroring/host-archive.ts";
import { ManagedPackage } from "../model.ts";
import type { InspectedSource } from "./package-sources.ts";
import { DOWNLOADS_LISTED_MAX } from "./runtime-downloads.ts";

export const SourceView = Type.Object({
  source_ref: Type.String({
    description:
      "URL of the archive, which always refers to the same commit; file name of an upload; `<provider>://<connection>/<repository>@<ref>` for a repository connection.",
  }),
  commit: Type.Optional(Type.String({ description: "Of a public repository." })),
  resolved_commit: Type.Optional(Type.String({ description: "Of a repository connection." })),
  ref_kind: Type.Optional(
    Type.Union([Type.Literal("branch"), Type.Literal("tag"), Type.Literal("commit")], {
      description: "Kind of the ref, for a repository connection.",
    }),
  ),
  committed_at: Type.Optional(Type.String({ format: "date-time" })),
  skipped: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: SKIPPED_LISTED_MAX,
      description: "Skipped symbolic links of the repository.",
    }),
  ),
  host_sha256: Type.Optional(
    Type.String({ description: "Digest of the archive that the host of a repository connection sent." }),
  ),
  artifact_id: Type.String({ format: "uuid", description: "Id of the stored archive." }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  size_bytes: Type.Integer({ minimum: 0, maximum: ARCHIVE_LIMITS.compressedBytesMax }),
  entries: Type.Integer({ description: "Files and folders in the archive." }),
  expanded_bytes: Type.Integer(),
  paths: Type.Array(Type.String(), {
    maxItems: PATHS_LISTED_MAX,
    description: "The first paths, for the layout of adapters.",
  }),
  runtime_downloads: Type.Array(Type.Object({ path: Type.String(), what: Type.String() }), {
    maxItems: DOWNLOADS_LISTED_MAX,
    description: "Files that seem to download something when they run; the digest does not cover that.",
  }),
  adapters: Type.Object(ManagedPackage.properties.adapters.properties, {
    description: "A proposal from the folders of the archive; harnesses that accept none of them are absent.",
  }),
});

function commitOf({ commit, repository }: InspectedSource) {
  if (commit === undefined) return {};
  if (!repository) return { commit };
  const { refKind, committedAtMs, skipped, hostSha256 } = repository;
  return {
    resolved_commit: commit,
    ref_kind: refKind,
    skipped,
    host_sha256: hostSha256,
    ...(committedAtMs !== undefined && { committed_at: toRfc3339(committedAtMs) }),
  };
}

export const toSourceView = (found: InspectedSource): Static<typeof SourceView> => ({
  source_ref: found.sourceRef,
  ...commitOf(found),
  artifact_id: found.artifactId,
  sha256: found.sha256,
  size_bytes: found.sizeBytes,
  entries: found.entries,
  expanded_bytes: found.expandedBytes,
  paths: found.paths,
  runtime_downloads: found.runtimeDownloads,
  adapters: found.adapters,
});
