// Sharing of captured sessions.
import { Type } from "@sinclair/typebox";
import { SessionSharingRequest } from "../../../domain/sessions/sharing/sharing-request.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { viewerOf } from "../../auth/viewer.ts";
import { actorOf } from "../../http/exchange.ts";
import { Uuid } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";
import { SessionPath, SharingModeWord, UserRef } from "./schemas.ts";

const SessionSharing = Type.Object({
  mode: SharingModeWord,
  can_edit: Type.Boolean({ description: "True for the owner" }),
  recipient_count: Type.Integer({ minimum: 0 }),
  recipients: Type.Array(UserRef, {
    description: "Active users; callers who are neither owner nor administrator see only themselves",
  }),
});

const describe = operationsOf("Sessions");

const described = {
  show: describe("getSessionSharing", "Sharing mode and recipients", {
    200: { description: "Recipients of the session", schema: SessionSharing },
  }),
  replace: describe("updateSessionSharing", "Replace the recipients of a session", {
    200: {
      description: "Replaced",
      schema: Type.Object({
        id: Uuid,
        mode: SharingModeWord,
        user_ids: Type.Array(Uuid, { uniqueItems: true, description: "Sorted, without the owner" }),
      }),
    },
  }),
};

export function sessionSharingRoutes({ router, domain }: RouteContext) {
  const { sharing } = domain.sessions;
  return router
    .get(
      "/session-uploads/:id/sharing",
      async ({ request, params }) => {
        const { mode, canEdit, recipientCount, recipients } = await runInTurns(
          sharing.show(viewerOf(request), params.id),
        );
        return json({ mode, can_edit: canEdit, recipient_count: recipientCount, recipients });
      },
      { requires: "anyone", params: SessionPath, detail: described.show },
    )
    .put(
      "/session-uploads/:id/sharing",
      async ({ request, params, body }) => {
        const wanted = { id: params.id, request: body };
        const { id, mode, userIds } = await sharing.replace(actorOf(request), viewerOf(request), wanted);
        return json({ id, mode, user_ids: userIds });
      },
      {
        requires: "anyone",
        accepts: "json",
        params: SessionPath,
        body: SessionSharingRequest,
        detail: described.replace,
      },
    );
}
