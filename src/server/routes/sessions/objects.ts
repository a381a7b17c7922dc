// The bytes of captured sessions in the local store: exchanged with any caller that has a signed address. No byte of a body is
// read before its address, length and type are checked, and bytes are never served with the type that the uploader announced.
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
    400: { description: "The length or the content type is not what was announced, or the body is cut" },
    403: { description: "The address is invalid or expired" },
    408: { description: "The body arrived too slowly" },
    409: { description: "The upload is complete with other bytes" },
    411: { description: "The length is not declared" },
    415: { description: "The body is compressed" },
    422: { description: "The bytes do not have the announced SHA-256" },
    503: { description: "No room, or too many uploads at once" },
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
        fileAnswer(request, await downloads.open(addressOf(params.id, query))),
      { requires: "nobody", params: ObjectPath, query: ObjectQuery, detail: described.get },
    );
}

const EXPIRES = /^\d{1,12}$/;

/** A query without these parameters counts as that of an expired address. */
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
    throw new HttpError(400, "sessions.other_length", "the body does not have the announced length");
}

/** Always an opaque attachment: uploaded types must never take effect under our origin. */
function fileAnswer(request: Request, { path, sha256, fileName }: OpenedObject): Response {
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
