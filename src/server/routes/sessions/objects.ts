// The bytes of captured sessions in the local store, for any caller with a signed address. The address, length and type
// are checked before any byte of a body is read, and bytes are never served with the announced type.
import { Type } from "@sinclair/typebox";
import type { AddressParameters, OpenedObject } from "../../../domain/sessions/service.ts";
import { refuseForeignOrigin } from "../../auth/guard.ts";
import { refuseEncoded } from "../../http/bodies/body-text.ts";
import { streamBody } from "../../http/bodies/streamed-body.ts";
import { namesTag } from "../../http/conditional.ts";
import { HttpError } from "../../http/problems/problem.ts";
import { noContent } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/** Not validated here: an unknown address gets the same refusal as an invalid one. */
const ObjectPath = Type.Object({ id: Type.String({ format: "uuid" }) }, { description: "Upload id" });
const ObjectQuery = Type.Object({
  expires: Type.Optional(Type.String({ description: "Unix seconds" })),
  signature: Type.Optional(Type.String({ description: "43 characters" })),
});

const BYTES_TYPE = "application/octet-stream";
const describe = operationsOf("Sessions");
const bytes = (description: string) => ({ description, schema: Type.String(), mediaType: BYTES_TYPE });

const described = {
  put: describe("putSessionObject", "Upload the bytes of an announced session", {
    204: { description: "Stored" },
    400: {
      description: "The length or the content type differs from the announcement, or the body is truncated",
    },
    403: { description: "The address is invalid or expired" },
    408: { description: "The body arrived too slowly" },
    409: { description: "The upload is already complete, with other bytes" },
    411: { description: "The length is not declared" },
    415: { description: "The body is compressed" },
    422: { description: "The SHA-256 of the bytes differs from the announcement" },
    503: { description: "The disk is full, or too many uploads are in progress" },
  }),
  get: describe("getSessionObject", "The bytes of a download link", {
    200: bytes("The bytes"),
    206: bytes("The part that Range asks for"),
    304: { description: "Unchanged since the ETag in If-None-Match" },
    403: { description: "The address is invalid or expired" },
    410: { description: "The bytes are lost" },
  }),
};

export function sessionObjectRoutes({ router, domain, baseUrl, uploadTimes }: RouteContext) {
  const { receiving, downloads, tally } = domain.sessions;
  return router
    .put(
      "/session-objects/:id",
      ({ request, params, query }) =>
        tally.watch(async () => {
          refuseForeignOrigin(request, baseUrl());
          const announced = receiving.admit(addressOf(params.id, query));
          requireAnnounced(request, announced);
          await receiving.receive(announced, streamBody(request, announced.sizeBytes, uploadTimes));
          return noContent();
        }),
      { requires: "nobody", accepts: "bytes", params: ObjectPath, query: ObjectQuery, detail: described.put },
    )
    .get(
      "/session-objects/:id",
      async ({ request, params, query }) =>
        fileResponse(request, await downloads.open(addressOf(params.id, query))),
      { requires: "nobody", params: ObjectPath, query: ObjectQuery, detail: described.get },
    );
}

const EXPIRES = /^\d{1,12}$/;

/** A query without these parameters is refused like an expired address. */
const addressOf = (
  id: string,
  { expires = "", signature = "" }: { expires?: string | undefined; signature?: string | undefined },
): AddressParameters => ({ id, expires: EXPIRES.test(expires) ? Number(expires) : 0, signature });

/** @throws HttpError 411, 415 or 400 before a byte is read */
function requireAnnounced(
  request: Request,
  { sizeBytes, contentType }: { sizeBytes: number; contentType: string },
): void {
  const { headers } = request;
  const length = headers.get("content-length");
  if (headers.has("transfer-encoding") || length === null)
    throw new HttpError(411, "request.length_required", "declare the length of the body in Content-Length");
  refuseEncoded(request);
  if (headers.get("content-type") !== contentType)
    throw new HttpError(400, "sessions.other_content_type", "send the announced content type");
  if (!/^\d{1,15}$/.test(length) || Number(length) !== sizeBytes)
    throw new HttpError(400, "sessions.other_length", "the length of the body differs from the announcement");
}

/** Always an opaque attachment: uploaded types must never take effect under our origin. */
function fileResponse(request: Request, { path, sha256, fileName }: OpenedObject): Response {
  const etag = `"${sha256}"`;
  const shared = { etag, "cache-control": "private, no-store" };
  const known = request.headers.get("if-none-match");
  if (known !== null && namesTag(known, etag)) return new Response(null, { status: 304, headers: shared });
  return new Response(Bun.file(path), {
    headers: {
      ...shared,
      "content-type": BYTES_TYPE,
      "content-disposition": `attachment; filename="${fileName}"`,
    },
  });
}
