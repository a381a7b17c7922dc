// Reports of workstations, and the inventory for administrators. The clients area evaluates reports.
import { Type } from "@sinclair/typebox";
import type { Principal } from "../../domain/access/service.ts";
import { toAdminClientStatus } from "../../domain/clients/inventory.ts";
import {
  AdminClientStatusPage,
  ClientFacets,
  ClientStatusReport,
  HEALTHS,
  type Reporter,
  SORTS,
} from "../../domain/clients/model.ts";
import { SEARCH_LENGTH_MAX, toPageEnvelope } from "../../domain/shared/page.ts";
import { invariant } from "../../platform/errors.ts";
import { runInTurns } from "../../platform/steps.ts";
import { json, noContent } from "../http/answers.ts";
import { actorOf, principalOf } from "../http/exchange.ts";
import { PageParameters, parameter, toPageQuery } from "../http/paging.ts";
import { operation, operationsOf } from "../openapi.ts";
import { createRouter, type RouteContext } from "../router.ts";

const day = (description: string) => parameter({ type: "string", format: "date", description });
const uuid = (description: string) => parameter({ type: "string", format: "uuid", description });

const ClientParameters = Type.Object(
  {
    ...PageParameters,
    user_id: uuid("Workstations of this user"),
    harness: parameter({ type: "string", description: "Exact name of a reported harness" }),
    health: parameter({ type: "string", enum: HEALTHS }),
    last_seen_from: day("First day in UTC"),
    last_seen_to: day("Last day in UTC"),
    sort: parameter({ type: "string", enum: SORTS, description: `${SORTS[0]} when left out` }),
  },
  { additionalProperties: false },
);

const FacetParameters = Type.Object(
  {
    user_q: parameter({
      type: "string",
      maxLength: SEARCH_LENGTH_MAX,
      description: "Part of a user's address",
    }),
    selected_user_id: uuid("Listed first among the users, even if it does not match user_q"),
  },
  { additionalProperties: false },
);

/** Not validated, not even as UTF-8: anything that is not an id is an unknown client. */
const ClientPath = Type.Object({ id: Type.Unknown({ type: "string", format: "uuid" }) });

const documented = operationsOf("Administration");

const described = {
  reportClientStatus: operation("reportClientStatus", "Report applied revision and local health", {
    tags: ["Configuration"],
    answers: { 204: { description: "Recorded" } },
  }),
  listClientStatus: documented("listClientStatus", "Workstations of the organization", {
    200: { description: "Numbered page", schema: AdminClientStatusPage },
  }),
  getClientStatusFacets: documented("getClientStatusFacets", "Users and harnesses among the reports", {
    200: { description: "Facets", schema: ClientFacets },
  }),
  deleteClientStatus: documented("deleteClientStatus", "Take one workstation off the inventory", {
    204: { description: "Removed; its next report creates a new record" },
  }),
};

/** @returns the operations on clients */
export function clientRoutes({ guard, domain }: RouteContext) {
  const { clients } = domain;

  return createRouter(guard, "clients")
    .post(
      "/client-status",
      async ({ request, body }) => {
        await clients.report(reporterOf(principalOf(request)), body);
        return noContent();
      },
      {
        requires: "client-status:write",
        accepts: "json",
        body: ClientStatusReport,
        detail: described.reportClientStatus,
      },
    )
    .get(
      "/admin/client-status",
      async ({ request, query }) => {
        const { user_id: userId, harness, health, last_seen_from: from, last_seen_to: to, sort } = query;
        const wanted = { ...toPageQuery(query), userId, harness, health, lastSeen: { from, to }, sort };
        const { organizationId } = principalOf(request);
        const page = await runInTurns(clients.inventory.listInSteps(organizationId, wanted));
        const envelope = toPageEnvelope(page, toAdminClientStatus);
        return json({ ...envelope, current_revision: page.currentRevision });
      },
      {
        requires: "administrator",
        query: ClientParameters,
        detail: described.listClientStatus,
      },
    )
    .get(
      "/admin/client-status/facets",
      async ({ request, query }) => {
        const wanted = { userQ: query.user_q, selectedUserId: query.selected_user_id };
        const { organizationId } = principalOf(request);
        return json(await runInTurns(clients.inventory.facets(organizationId, wanted)));
      },
      {
        requires: "administrator",
        query: FacetParameters,
        detail: described.getClientStatusFacets,
      },
    )
    .delete(
      "/admin/client-status/:id",
      async ({ request, params }) => {
        await clients.removals.remove(actorOf(request), String(params.id));
        return noContent();
      },
      {
        requires: "administrator",
        accepts: "nothing",
        params: ClientPath,
        detail: described.deleteClientStatus,
      },
    );
}

function reporterOf({ userId, organizationId, sid, sessionId, grantId }: Principal): Reporter {
  const loginSessionId = sid ?? sessionId;
  invariant(loginSessionId !== null, "every credential goes back to a login session");
  return { userId, organizationId, loginSessionId, grantId };
}
