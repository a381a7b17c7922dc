// Operations that remove or revoke many workstations. The clients area decides what happens to each one.
import { type Static, Type } from "@sinclair/typebox";
import { NOT_SEEN_DAYS_MAX } from "../../domain/clients/limits.ts";
import { HEALTHS } from "../../domain/clients/model.ts";
import type { RemovalKind, Selection } from "../../domain/clients/service.ts";
import { BulkResult } from "../../domain/shared/bulk.ts";
import { FIRST_TIME, LAST_TIME } from "../../domain/shared/day-range.ts";
import { SEARCH_LENGTH_MAX } from "../../domain/shared/page.ts";
import { bulkBody, runBulk } from "../http/bulk.ts";
import { actorOf } from "../http/exchange.ts";
import { Uuid } from "../http/paging.ts";
import { json } from "../http/responses.ts";
import { operationsOf } from "../openapi.ts";
import type { RouteContext } from "../router.ts";

const text = Type.Optional(Type.String());

/** The same filters as in the query of the list. */
const ClientFilter = {
  q: Type.Optional(Type.String({ description: `Text to find, at most ${SEARCH_LENGTH_MAX} characters` })),
  user_id: Type.Optional(Uuid),
  harness: text,
  health: Type.Optional(Type.String({ enum: HEALTHS })),
  revision: text,
  client_version: text,
  platform: text,
  last_seen_from: Type.Optional(Type.String({ description: FIRST_TIME })),
  last_seen_to: Type.Optional(Type.String({ description: LAST_TIME })),
  stale: Type.Optional(Type.Boolean()),
  not_seen_for_days: Type.Optional(Type.Integer({ minimum: 1, maximum: NOT_SEEN_DAYS_MAX })),
};

const ClientBulk = bulkBody(ClientFilter, {});
type Filter = NonNullable<Static<typeof ClientBulk>["filter"]>;

const documented = operationsOf("Administration");
const responses = {
  200: {
    description:
      "The result of each workstation in this slice. Workstations that report in between are in a later slice if they still match. Workstations that first report after the operation began do not change",
    schema: BulkResult,
  },
  409: { description: "More workstations match than expected" },
};
const described = {
  remove: documented(
    "removeClients",
    "Remove many workstations from the inventory; they keep their logins",
    responses,
  ),
  revoke: documented(
    "revokeClients",
    "Remove many workstations from the inventory and end their logins",
    responses,
  ),
};

export function clientBulkRoutes({ router, domain }: RouteContext) {
  const { bulkRemovals } = domain.clients;

  const run = (request: Request, body: Static<typeof ClientBulk>, removal: RemovalKind) => {
    const actor = actorOf(request);
    return runBulk<Filter, Selection>(body, {
      reason: "client.invalid",
      selectionOf: (chosen) =>
        "ids" in chosen ? chosen : { filter: queryOf(chosen.filter), text: chosen.text },
      count: (selection) => bulkRemovals.count(actor.organizationId, selection),
      slice: (slice) => bulkRemovals.slice(actor, { removal, ...slice }),
    });
  };

  return router
    .post(
      "/admin/client-status/remove",
      async ({ request, body }) => json(await run(request, body, "remove")),
      { requires: "administrator", accepts: "json", body: ClientBulk, detail: described.remove },
    )
    .post(
      "/admin/client-status/revoke",
      async ({ request, body }) => json(await run(request, body, "revoke")),
      { requires: "administrator", accepts: "json", body: ClientBulk, detail: described.revoke },
    );
}

const queryOf = (filter: Filter) => ({
  q: filter.q,
  userId: filter.user_id,
  harness: filter.harness,
  health: filter.health,
  revision: filter.revision,
  clientVersion: filter.client_version,
  platform: filter.platform,
  lastSeen: { from: filter.last_seen_from, to: filter.last_seen_to },
  stale: filter.stale === undefined ? undefined : String(filter.stale),
  notSeenForDays: filter.not_seen_for_days,
});
