// Reports of workstations, and the inventory for administrators. The clients area evaluates reports.
import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../domain/access/service.ts";
import {
  AdminClientStatusPage,
  ClientCounts,
  ClientDetail,
  ClientFacets,
  ClientSummaryPage,
  toAdminClientStatus,
  toClientCounts,
  toClientDocument,
  toClientSummary,
} from "../../domain/clients/inventory/documents.ts";
import { NOT_SEEN_DAYS_MAX, STALE_AFTER_DAYS } from "../../domain/clients/limits.ts";
import {
  ClientStatusReport,
  COUNT_KINDS,
  HEALTHS,
  type Reporter,
  SORTS,
  VIEWS,
} from "../../domain/clients/model.ts";
import type { ClientQuery } from "../../domain/clients/service.ts";
import { FIRST_TIME, LAST_TIME } from "../../domain/shared/day-range.ts";
import { SEARCH_LENGTH_MAX, toPageEnvelope } from "../../domain/shared/page.ts";
import { invariant } from "../../platform/errors.ts";
import { runInTurns } from "../../platform/steps.ts";
import { actorOf, principalOf } from "../http/exchange.ts";
import { PageParameters, parameter, toPageQuery, toWholeNumber } from "../http/paging.ts";
import { json, noContent } from "../http/responses.ts";
import { operation, operationsOf } from "../openapi.ts";
import type { RouteContext } from "../router.ts";

const uuid = (description: string) => parameter({ type: "string", format: "uuid", description });

const ClientParameters = Type.Object(
  {
    ...PageParameters,
    user_id: uuid("Workstations of this user"),
    harness: parameter({ type: "string", description: "Exact name of a reported harness" }),
    health: parameter({ type: "string", enum: HEALTHS }),
    last_seen_from: parameter({ description: FIRST_TIME }),
    last_seen_to: parameter({ description: LAST_TIME }),
    revision: parameter({ type: "string", description: "Exact id of the reported revision" }),
    client_version: parameter({ type: "string", description: "Exact reported version of the client" }),
    platform: parameter({
      type: "string",
      description:
        "Exact reported platform, such as `macos`, or with the architecture, such as `macos-aarch64`",
    }),
    stale: parameter({
      enum: ["true", "false"],
      description: `true: without a report for ${STALE_AFTER_DAYS} days; false: with one`,
    }),
    not_seen_for_days: parameter({ type: "integer", minimum: 1, maximum: NOT_SEEN_DAYS_MAX }),
    sort: parameter({ type: "string", enum: SORTS, description: `${SORTS[0]} if omitted` }),
    cursor: parameter({ type: "string", description: "`next_cursor` of the previous page, instead of page" }),
    view: parameter({
      enum: VIEWS,
      description: "summary: without the reported inventories; full if omitted",
    }),
  },
  { additionalProperties: false },
);

const CountParameters = Type.Object(
  {
    by: parameter({
      type: "string",
      description: `One or more of ${COUNT_KINDS.join(", ")}, separated by commas; all if omitted`,
    }),
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
    selected_user_id: uuid("This user is listed first, even if user_q does not match"),
  },
  { additionalProperties: false },
);

/** Not validated, because any text that is not an id is an unknown client. */
const ClientPath = Type.Object({ id: Type.Unknown({ type: "string", format: "uuid" }) });

const documented = operationsOf("Administration");

const described = {
  reportClientStatus: operation("reportClientStatus", "Report applied revision and local health", {
    tags: ["Configuration"],
    answers: { 204: { description: "Recorded" } },
  }),
  listClientStatus: documented("listClientStatus", "Workstations of the organization", {
    200: {
      description: "One page; with view=summary a page of summaries",
      schema: Type.Union([AdminClientStatusPage, ClientSummaryPage]),
    },
  }),
  getClientStatus: documented("getClientStatus", "One workstation, with the login that reported it", {
    200: { description: "The workstation", schema: ClientDetail },
  }),
  countClientStatus: documented(
    "countClientStatus",
    "Workstations by health and by version of their harnesses",
    {
      200: { description: "The wanted counts", schema: ClientCounts },
    },
  ),
  getClientStatusFacets: documented("getClientStatusFacets", "Users and harnesses among the reports", {
    200: { description: "Facets", schema: ClientFacets },
  }),
  deleteClientStatus: documented("deleteClientStatus", "Remove one workstation from the inventory", {
    204: { description: "Removed; its next report creates a new record" },
  }),
};

export function clientRoutes({ router, domain }: RouteContext) {
  const { clients } = domain;

  clientReportRoutes({ router, domain });
  oneClientRoutes({ router, domain });
  return router
    .get(
      "/admin/client-status",
      async ({ request, query }) => {
        const { organizationId } = principalOf(request);
        const wanted = toClientQuery(query);
        if (query.view !== "summary") {
          const page = await runInTurns(clients.inventory.listInSteps(organizationId, wanted));
          return json({ ...toPageEnvelope(page, toAdminClientStatus), ...membersOf(page) });
        }
        const page = await runInTurns(clients.inventory.summaries(organizationId, wanted));
        const more = { ...membersOf(page), total_is_exact: page.isTotalExact };
        return json({ ...toPageEnvelope(page, toClientSummary), ...more });
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
    .get(
      "/admin/client-status/counts",
      async ({ request, query }) => {
        const { organizationId } = principalOf(request);
        return json(toClientCounts(await runInTurns(clients.inventory.countedBy(organizationId, query.by))));
      },
      { requires: "administrator", query: CountParameters, detail: described.countClientStatus },
    );
}

function oneClientRoutes({ router, domain }: Pick<RouteContext, "router" | "domain">) {
  const { clients } = domain;
  return router
    .get(
      "/admin/client-status/:id",
      ({ request, params }) => {
        const { organizationId } = principalOf(request);
        const client = clients.inventory.byId(organizationId, String(params.id));
        return json({
          ...toClientDocument(client),
          current_revision: domain.governance.revisions.current(organizationId)?.id ?? null,
          companions: clients.inventory.companions(client),
        });
      },
      { requires: "administrator", params: ClientPath, detail: described.getClientStatus },
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

/** @returns the operation for reports of workstations */
const clientReportRoutes = ({ router, domain: { clients } }: Pick<RouteContext, "router" | "domain">) =>
  router.post(
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
  );

const membersOf = ({ currentRevision, next }: { currentRevision: string | null; next: string | null }) => ({
  current_revision: currentRevision,
  next_cursor: next,
});

const toClientQuery = (query: Static<typeof ClientParameters>): ClientQuery => ({
  ...toPageQuery(query),
  userId: query.user_id,
  harness: query.harness,
  health: query.health,
  revision: query.revision,
  clientVersion: query.client_version,
  platform: query.platform,
  lastSeen: { from: query.last_seen_from, to: query.last_seen_to },
  stale: query.stale,
  notSeenForDays: toWholeNumber(query.not_seen_for_days),
  sort: query.sort,
  view: query.view,
  cursor: query.cursor,
});

function reporterOf({ userId, organizationId, sid, sessionId, grantId }: Principal): Reporter {
  const loginSessionId = sid ?? sessionId;
  invariant(loginSessionId !== null, "every credential belongs to a login session");
  return { userId, organizationId, loginSessionId, grantId };
}
