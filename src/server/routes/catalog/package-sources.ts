// Package sources for administrators: fetches or receives a package, checks it and stores it as an artifact before
// anyone publishes it.
import { Type } from "@sinclair/typebox";
import { ARCHIVE_LIMITS } from "../../../domain/catalog/archive/archive.ts";
import { PROVIDERS } from "../../../domain/catalog/connections/connection.ts";
import { SOURCE_REF_CHARACTERS_MAX } from "../../../domain/catalog/model.ts";
import { UPLOAD_NAME_CHARACTERS_MAX } from "../../../domain/catalog/sources/package-sources.ts";
import { SourceView, toSourceView } from "../../../domain/catalog/sources/source-wire.ts";
import { refuseEncoded } from "../../http/bodies/body-text.ts";
import { ARCHIVE_TIMES, declaredLength, streamBody } from "../../http/bodies/streamed-body.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: SOURCE_REF_CHARACTERS_MAX, description }));

const SourceRequest = Type.Object(
  {
    source_ref: text("An https URL, or github:owner/repository@ref for a public repository."),
    connection_id: text("If given, repository and ref are used and source_ref is ignored."),
    repository: text("namespace/name, for a connection."),
    ref: text("Branch, tag or whole commit, for a connection."),
    path: text("Folder of the repository that becomes the root of the archive, for a connection."),
  },
  { additionalProperties: false },
);

const UploadQuery = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: UPLOAD_NAME_CHARACTERS_MAX,
    description: "Name of the file, such as guide-1.0.0.tar.gz.",
  }),
});

const PackageSourceConnection = Type.Object({
  id: Type.String(),
  name: Type.String(),
  provider: Type.String({ description: `One of ${PROVIDERS.join(", ")}.` }),
  namespaces: Type.Array(Type.String(), { description: "Owners of repositories; `*` means all." }),
  status: Type.Union([Type.Literal("ok"), Type.Literal("unverified"), Type.Literal("failing")], {
    description: "Outcome of the last request to the host.",
  }),
});

const operation = operationsOf("Administration");

export function packageSourceRoutes({ router, domain, uploadTimes = ARCHIVE_TIMES }: RouteContext) {
  const { packageSources } = domain;
  return router
    .get(
      "/admin/package-source/connections",
      ({ request }) => json(packageSources.connections(actorOf(request).organizationId)),
      {
        requires: "administrator",
        detail: operation("listPackageSourceConnections", "Repository connections the organization may use", {
          200: {
            description: "Connections in the order of the configuration",
            schema: Type.Array(PackageSourceConnection),
          },
        }),
      },
    )
    .post(
      "/admin/package-source/inspect",
      async ({ request, body }) => {
        const found = await packageSources.inspect(actorOf(request), body, { signal: request.signal });
        return json(toSourceView(found));
      },
      {
        requires: "administrator",
        accepts: "json",
        body: SourceRequest,
        detail: operation("inspectPackageSource", "Fetch, check and store a package source", {
          200: { description: "The facts to confirm before publishing it", schema: SourceView },
          400: { description: "The source, the repository or its content cannot be used" },
          403: {
            description: "Public sources are off, or the organization may not use the namespace",
          },
          404: { description: "Unknown connection" },
          409: { description: "The host sends different content for a commit that was mirrored before" },
          429: { description: "Too many inspections, here or at the host" },
          502: { description: "The host refuses the credential, is not trusted or is not understood" },
          503: { description: "The host is down or too slow, or the disk is full" },
        }),
      },
    )
    .post(
      "/admin/package-source/upload",
      async ({ request, query }) => {
        refuseEncoded(request);
        const length = declaredLength(request, ARCHIVE_LIMITS.compressedBytesMax);
        const bytes = streamBody(request, length, uploadTimes);
        return json(toSourceView(await packageSources.upload(actorOf(request), { name: query.name, bytes })));
      },
      {
        requires: "administrator",
        accepts: "bytes",
        query: UploadQuery,
        detail: operation("uploadPackageSource", "Check and store a package; the body is its archive", {
          200: { description: "The facts to confirm before publishing it", schema: SourceView },
          400: { description: "The body is truncated, or its name is invalid" },
          408: { description: "The body arrived too slowly" },
          413: { description: `The archive has more than ${ARCHIVE_LIMITS.compressedBytesMax} bytes` },
          429: { description: "Too many inspections at once" },
          503: { description: "The disk is full" },
        }),
      },
    );
}
