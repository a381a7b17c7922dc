// The request log for administrators, and the operations with which a separate inference proxy adds rows to it.
import { type TSchema, Type } from "@sinclair/typebox";
import { EVENTS_MAX, RequestLogBatch, RequestLogEvent } from "../../../domain/inference/log/intake.ts";
import { RESULTS, SORTS } from "../../../domain/inference/log/model.ts";
import { LENGTH_MAX, type LogFilterQuery } from "../../../domain/inference/log/query.ts";
import { OUTCOMES } from "../../../domain/inference/log/record.ts";
import {
  BUCKETS,
  GROUPS_MAX,
  POINTS_MAX,
  SUMMARY_GROUPS,
} from "../../../domain/inference/log/summary/model.ts";
import { RequestLogSummary, toRequestLogSummary } from "../../../domain/inference/log/summary/wire.ts";
import {
  RequestLogFacets,
  RequestLogPage,
  toGapItem,
  toRequestLogItem,
} from "../../../domain/inference/log/wire.ts";
import { FIRST_TIME, LAST_TIME } from "../../../domain/shared/day-range.ts";
import { SEARCH_LENGTH_MAX, toPageEnvelope } from "../../../domain/shared/page.ts";
import { principalOf } from "../../http/exchange.ts";
import { PageParameters, parameter, toPageQuery, toWholeNumber } from "../../http/paging.ts";
import { json, noContent } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const text = (maxLength: number, description: string) =>
  parameter({ type: "string", maxLength, description });
const uuid = (description: string) => parameter({ type: "string", format: "uuid", description });

const filters = {
  user_id: uuid("Requests of this user"),
  profile_id: text(LENGTH_MAX.profileId, "Exact id of a profile at the gateway"),
  model: text(LENGTH_MAX.model, "Exact name of a model"),
  harness: text(LENGTH_MAX.harness, "Exact name of an agent"),
  result: parameter({ type: "string", enum: RESULTS, description: "Result by the status" }),
  outcome: parameter({ type: "string", enum: OUTCOMES, description: "How the request ended" }),
  run_id: text(LENGTH_MAX.runId, "Exact id of a run"),
  min_tokens: parameter({ type: "integer", minimum: 0, description: "Input and output tokens together" }),
  occurred_from: parameter({ description: FIRST_TIME }),
  occurred_to: parameter({ description: LAST_TIME }),
};

const LogParameters = Type.Object(
  {
    ...PageParameters,
    ...filters,
    sort: parameter({ type: "string", enum: SORTS, description: `${SORTS[0]} if omitted` }),
  },
  { additionalProperties: false },
);

const SummaryParameters = Type.Object(
  {
    ...filters,
    q: PageParameters.q,
    bucket: parameter({
      type: "string",
      enum: BUCKETS,
      description: `Period of each of at most ${POINTS_MAX} points, in UTC; if omitted, hours for up to three days`,
    }),
    by: parameter({
      type: "string",
      enum: SUMMARY_GROUPS,
      description: `Adds figures of the ${GROUPS_MAX} with the most requests`,
    }),
  },
  { additionalProperties: false },
);

const FacetParameters = Type.Object(
  {
    user_q: text(SEARCH_LENGTH_MAX, "Part of a user's address"),
    selected_user_id: uuid("This user is listed first, even if user_q does not match"),
  },
  { additionalProperties: false },
);

/** The domain checks the body; without its kinds the schema only documents it. */
const documented = (schema: TSchema) => Type.Unknown(JSON.parse(JSON.stringify(schema)));

const describe = operationsOf("Gateway");
const taken = { 204: { description: "All rows are queued; rows with a known id change nothing" } };

const described = {
  list: describe("listGatewayRequestLogs", "Retained metadata of inference requests", {
    200: { description: "Numbered page", schema: RequestLogPage },
    503: { description: "The search takes too long, or too many are running" },
  }),
  summary: describe(
    "getGatewayRequestLogSummary",
    "Requests, errors and latency of a period, by hour or day, and by model or user",
    {
      200: { description: "Figures", schema: RequestLogSummary },
      503: { description: "The summary takes too long, or too many searches are running" },
    },
  ),
  facets: describe("getGatewayRequestLogFacets", "Values for the filters of the request log", {
    200: { description: "Facets", schema: RequestLogFacets },
  }),
  add: describe("addGatewayRequestLog", "Add one row to the request log", {
    ...taken,
    404: { description: "No token of the inference proxy is configured" },
    503: { description: "The queue is full at present" },
  }),
  addBatch: describe("addGatewayRequestLogs", `Add up to ${EVENTS_MAX} rows to the request log, or none`, {
    ...taken,
    404: { description: "No token of the inference proxy is configured" },
    503: { description: "The queue is full at present" },
  }),
};

export function requestLogRoutes({ router, domain }: RouteContext) {
  const { requestLogs, logIntake } = domain;

  return router
    .get(
      "/gateway/request-logs",
      async ({ query }) => {
        const { sort } = query;
        const view = await requestLogs.list({ ...toPageQuery(query), ...toFilter(query), sort });
        const envelope = toPageEnvelope(view, toRequestLogItem);
        return json({ ...envelope, total_capped: view.isCapped, gaps: view.gaps.map(toGapItem) });
      },
      { requires: "administrator", query: LogParameters, detail: described.list },
    )
    .get(
      "/gateway/request-logs/summary",
      async ({ query }) => {
        const { q, bucket, by } = query;
        const wanted = { ...toFilter(query), q, bucket, by: by === undefined ? [] : [by] };
        return json(toRequestLogSummary(await requestLogs.summary(wanted)));
      },
      { requires: "administrator", query: SummaryParameters, detail: described.summary },
    )
    .get(
      "/gateway/request-logs/facets",
      async ({ request, query }) => {
        const wanted = { userQ: query.user_q, selectedUserId: query.selected_user_id };
        return json(await requestLogs.facets(principalOf(request).organizationId, wanted));
      },
      { requires: "administrator", query: FacetParameters, detail: described.facets },
    )
    .post(
      "/internal/gateway/request-logs",
      ({ body }) => {
        logIntake.take(body);
        return noContent();
      },
      { requires: "proxy", accepts: "json", body: documented(RequestLogEvent), detail: described.add },
    )
    .post(
      "/internal/gateway/request-logs/batch",
      ({ body }) => {
        logIntake.takeBatch(body);
        return noContent();
      },
      { requires: "proxy", accepts: "json", body: documented(RequestLogBatch), detail: described.addBatch },
    );
}

interface SentFilter {
  user_id?: string;
  profile_id?: string;
  model?: string;
  harness?: string;
  result?: string;
  outcome?: string;
  run_id?: string;
  min_tokens?: string;
  occurred_from?: string;
  occurred_to?: string;
}

const toFilter = ({ model, harness, result, outcome, ...query }: SentFilter): LogFilterQuery => ({
  model,
  harness,
  result,
  outcome,
  userId: query.user_id,
  profileId: query.profile_id,
  runId: query.run_id,
  minTokens: toWholeNumber(query.min_tokens),
  occurred: { from: query.occurred_from, to: query.occurred_to },
});
