// Package sources for administrators: fetches and checks a package and stores it as an artifact before anyone publishes it.
import { Type } from "@sinclair/typebox";
import { ARCHIVE_LIMITS } from "../../../domain/catalog/archive/archive.ts";
import { SOURCE_REF_CHARACTERS_MAX } from "../../../domain/catalog/model.ts";
import { PATHS_LISTED_MAX } from "../../../domain/catalog/sources/package-sources.ts";
import { json } from "../../http/answers.ts";
import { actorOf } from "../../http/exchange.ts";
import { operationsOf } from "../../openapi.ts";
import { createRouter, type RouteContext } from "../../router.ts";

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: SOURCE_REF_CHARACTERS_MAX, description }));

const SourceRequest = Type.Object(
  {
    source_ref: text("An https URL, or github:owner/repository@ref for a public repository."),
    connection_id: text("If given, repository and ref are used and source_ref is ignored."),
    repository: text("namespace/name, for a connection."),
    ref: text("Branch, tag or commit, for a connection."),
  },
  { additionalProperties: false },
);

const InspectedSource = Type.Object({
  source_ref: Type.String({
    description: "URL of the archive, which always refers to the same commit.",
  }),
  artifact_id: Type.String({ format: "uuid", description: "Id of the stored archive." }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  size_bytes: Type.Integer({ minimum: 0, maximum: ARCHIVE_LIMITS.compressedBytesMax }),
  entries: Type.Integer({ description: "Files and folders in the archive." }),
  expanded_bytes: Type.Integer(),
  paths: Type.Array(Type.String(), {
    maxItems: PATHS_LISTED_MAX,
    description: "The first paths, for the layout of adapters.",
  }),
});

const PackageSourceConnection = Type.Object({
  id: Type.String(),
  name: Type.String(),
  provider: Type.String(),
  namespaces: Type.Array(Type.String()),
});

const operation = operationsOf("Administration");

/** @returns the operations listPackageSourceConnections and inspectPackageSource */
export function packageSourceRoutes({ guard, domain }: RouteContext) {
  const { packageSources } = domain;
  return createRouter(guard, "package-sources")
    .get("/admin/package-source/connections", () => json(packageSources.connections()), {
      requires: "administrator",
      detail: operation("listPackageSourceConnections", "Repository connections the organization may use", {
        200: { description: "None yet", schema: Type.Array(PackageSourceConnection) },
      }),
    })
    .post(
      "/admin/package-source/inspect",
      async ({ request, body }) => {
        const found = await packageSources.inspect(actorOf(request), body, { signal: request.signal });
        return json({
          source_ref: found.sourceRef,
          artifact_id: found.artifactId,
          sha256: found.sha256,
          size_bytes: found.sizeBytes,
          entries: found.entries,
          expanded_bytes: found.expandedBytes,
          paths: found.paths,
        });
      },
      {
        requires: "administrator",
        accepts: "json",
        body: SourceRequest,
        detail: operation("inspectPackageSource", "Fetch, check and store a package source", {
          200: { description: "The facts to confirm before publishing it", schema: InspectedSource },
          404: { description: "Unknown connection" },
          429: { description: "Too many inspections at once" },
          503: { description: "The disk is full" },
        }),
      },
    );
}
