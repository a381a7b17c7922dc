// Announces, completes, downloads and removes captured sessions. objects.ts has the bytes of the local store.
import { Type } from "@sinclair/typebox";
import type { Presigned } from "../../../domain/sessions/service.ts";
import { SessionUploadPresignRequest } from "../../../domain/sessions/uploads/presign-request.ts";
import { viewerOf } from "../../auth/viewer.ts";
import { actorOf } from "../../http/exchange.ts";
import { Uuid } from "../../http/paging.ts";
import { json, noContent } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";
import { nullable, SessionPath } from "./schemas.ts";

const UploadPath = Type.Object({ id: Uuid });

const PresignedUpload = Type.Object({
  upload_id: Uuid,
  status: Type.Union([Type.Literal("pending"), Type.Literal("complete")]),
  upload_url: nullable({ format: "uri", description: "Null when complete" }),
  method: nullable({ enum: ["PUT", null] }),
  headers: Type.Record(Type.String(), Type.String(), { description: "Headers that the upload must send" }),
  complete_url: nullable({ description: "Relative to the address of this operation" }),
});
const Completed = Type.Object({ id: Uuid, status: Type.Literal("complete") });
const DownloadRequest = Type.Object({
  download_url: Type.String({ format: "uri", description: "Works without a credential" }),
  expires_in_seconds: Type.Integer({ minimum: 1 }),
});

const describe = operationsOf("Sessions");

const described = {
  presign: describe("presignSessionUpload", "Announce a captured session and get a request that uploads it", {
    200: {
      description: "The upload request, or the information that no upload is needed",
      schema: PresignedUpload,
    },
    429: { description: "Too many unfinished uploads" },
    503: { description: "The disk is full, or the store does not answer" },
  }),
  complete: describe("completeSessionUpload", "Verify the uploaded bytes and complete the upload", {
    200: { description: "Complete", schema: Completed },
    400: { description: "The bytes are missing or differ, or the time to complete has passed" },
    503: { description: "The store does not answer" },
  }),
  download: describe("createSessionDownload", "A short-lived link to a session's bytes", {
    200: { description: "How to fetch them", schema: DownloadRequest },
    410: { description: "The retention has ended, or the bytes are lost" },
    503: { description: "The store does not answer" },
  }),
  remove: describe("deleteSessionUpload", "Remove a session with all versions", {
    204: { description: "Removed" },
    409: { description: "An administrator holds the session" },
  }),
};

export function sessionUploadRoutes({ router, domain }: RouteContext) {
  const { announcements, completion, downloads, removal, tally } = domain.sessions;
  return router
    .post(
      "/session-uploads/presign",
      async ({ request, body }) => {
        const { userId, organizationId } = viewerOf(request);
        const uploader = { userId, organizationId, actor: () => actorOf(request) };
        return json(toWire(await announcements.presign(uploader, body)));
      },
      {
        requires: "session:write",
        accepts: "json",
        body: SessionUploadPresignRequest,
        detail: described.presign,
      },
    )
    .post(
      "/session-uploads/:id/complete",
      async ({ request, params }) => {
        const completing = () => completion.complete(actorOf(request), viewerOf(request), params.id);
        return json({ id: await tally.watch(completing), status: "complete" });
      },
      { requires: "session:write", accepts: "nothing", params: UploadPath, detail: described.complete },
    )
    .post(
      "/session-uploads/:id/download",
      async ({ request, params }) => {
        const offer = await downloads.offer(actorOf(request), viewerOf(request), params.id);
        return json({ download_url: offer.url, expires_in_seconds: offer.expiresInSeconds });
      },
      { requires: "anyone", accepts: "nothing", params: SessionPath, detail: described.download },
    )
    .delete(
      "/session-uploads/:id",
      async ({ request, params }) => {
        await removal.remove(actorOf(request), viewerOf(request), params.id);
        return noContent();
      },
      { requires: "session:write", accepts: "nothing", params: SessionPath, detail: described.remove },
    );
}

const toWire = ({ uploadId, upload }: Presigned) => ({
  upload_id: uploadId,
  status: upload ? "pending" : "complete",
  upload_url: upload?.url ?? null,
  method: upload?.method ?? null,
  headers: upload?.headers ?? {},
  complete_url: upload ? `/session-uploads/${uploadId}/complete` : null,
});
