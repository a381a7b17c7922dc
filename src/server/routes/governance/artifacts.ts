// Archives for workstations: a short-lived link for authorized callers, and the bytes for any caller with the link. The
// runtime implements ranges and conditional ranges (RFC 9110 section 14) with the entity tag set here.
import { Type } from "@sinclair/typebox";
import { type ArtifactLink, LINK_TTL_SECONDS } from "../../../domain/governance/delivery/artifact-links.ts";
import { namesTag } from "../../http/conditional.ts";
import { principalOf } from "../../http/exchange.ts";
import { Uuid } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const ArtifactPath = Type.Object({ id: Uuid });
const FilePath = Type.Object({ digest: Type.String({ pattern: "^[0-9a-f]{64}$" }) });
const FileQuery = Type.Object({
  expires: Type.String({ pattern: "^\\d{1,12}$" }),
  signature: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" }),
});

const DownloadRequest = Type.Object({
  url: Type.String({ format: "uri", description: "Works without a credential" }),
  method: Type.Literal("GET"),
  headers: Type.Record(Type.String(), Type.String()),
  expires_in_seconds: Type.Integer({ minimum: 1 }),
});

const describe = operationsOf("Packages");

export function artifactRoutes({ router, domain, baseUrl }: RouteContext) {
  const { artifactLinks } = domain;
  return router
    .post(
      "/package-artifacts/:id/download",
      async ({ request, params }) => {
        const link = await artifactLinks.offer(principalOf(request), params.id);
        return json({
          url: `${baseUrl()}${pathOf(link)}`,
          method: "GET",
          headers: {},
          expires_in_seconds: LINK_TTL_SECONDS,
        });
      },
      {
        requires: "anyone",
        accepts: "nothing",
        params: ArtifactPath,
        detail: describe("downloadPackageArtifact", "A short-lived link to a package's archive", {
          200: { description: "How to fetch it", schema: DownloadRequest },
          503: { description: "The archive is not stored here" },
        }),
      },
    )
    .get(
      "/artifacts/:digest",
      async ({ request, params, query }) => {
        const link = { digest: params.digest, expires: Number(query.expires), signature: query.signature };
        return fileResponse(request, await artifactLinks.open(link));
      },
      {
        requires: "nobody",
        params: FilePath,
        query: FileQuery,
        detail: describe("getPackageArchive", "The archive of a download link", {
          200: { description: "The archive", schema: Type.String(), mediaType: ARCHIVE_TYPE },
          206: {
            description: "The part that Range asks for",
            schema: Type.String(),
            mediaType: ARCHIVE_TYPE,
          },
          304: { description: "Unchanged since the ETag in If-None-Match" },
          403: { description: "The link is invalid or expired" },
        }),
      },
    );
}

const ARCHIVE_TYPE = "application/gzip";

const pathOf = ({ digest, expires, signature }: ArtifactLink): string =>
  `/artifacts/${digest}?${new URLSearchParams({ expires: String(expires), signature })}`;

/** Clients compare the digest, so intermediaries must not transform the bytes. */
function fileResponse(request: Request, { path, digest }: { path: string; digest: string }): Response {
  const etag = `"${digest}"`;
  const shared = { etag, "cache-control": "private, no-transform" };
  const known = request.headers.get("if-none-match");
  if (known !== null && namesTag(known, etag)) return new Response(null, { status: 304, headers: shared });
  return new Response(Bun.file(path), {
    headers: {
      ...shared,
      "content-type": ARCHIVE_TYPE,
      "content-disposition": `attachment; filename="${digest}.tar.gz"`,
    },
  });
}
