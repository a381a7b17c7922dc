// API for the overview of the installation: its problems and newest changes.

import { Type } from "@sinclair/typebox";
import { STREAMS_PER_LOGIN_MAX, STREAMS_PER_USER_MAX } from "../../http/event-streams.ts";
import { principalOf } from "../../http/exchange.ts";
import { eventStream, json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import { ADMIN_EVENTS } from "../../overview/admin-events.ts";
import { OverviewDocument, overviewDocument } from "../../overview/document.ts";
import type { RouteContext } from "../../router.ts";

const describe = operationsOf("Administration");
const described = describe(
  "getOverview",
  "Problems, counts of workstations, users and keys, and the newest changes",
  { 200: { description: "The overview; its counts are at most some seconds old", schema: OverviewDocument } },
);

const events = describe(
  "streamAdminEvents",
  "Events about changes, for pages that then reload their content",
  {
    200: {
      description: `Events ${ADMIN_EVENTS.join(", ")}, each with a number that differs from the one before; ends with the session`,
      schema: Type.String(),
      mediaType: "text/event-stream",
    },
    429: {
      description: `The login has ${STREAMS_PER_LOGIN_MAX} such streams open, or its user ${STREAMS_PER_USER_MAX}; Retry-After says when to try again`,
    },
    503: { description: "Too many streams are open, or the service is stopping" },
  },
);

export const overviewRoutes = ({ router, overview, adminEvents }: RouteContext) =>
  router
    .get(
      "/admin/overview",
      async ({ request }) => json(overviewDocument(await overview.read(principalOf(request).organizationId))),
      { requires: "administrator", detail: described },
    )
    .get("/admin/events", ({ request }) => eventStream(adminEvents.open(principalOf(request))), {
      requires: "administrator",
      detail: events,
    });
