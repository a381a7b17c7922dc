// Daily sums of inference usage: of everybody for administrators, and of the caller.
import { Type } from "@sinclair/typebox";
import { GROUPS } from "../../../domain/inference/usage/model.ts";
import { toUsageDocument, UsageDocument } from "../../../domain/inference/usage/wire.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { principalOf } from "../../http/exchange.ts";
import { parameter } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const day = (description: string) => parameter({ type: "string", format: "date", description });
const group = (fallback: string) =>
  parameter({ type: "string", enum: GROUPS, description: `${fallback} if omitted` });
const period = {
  from: day("First day in UTC; 29 days before `to` if omitted"),
  to: day("Last day in UTC"),
};

const AdminParameters = Type.Object({ ...period, group_by: group("user") }, { additionalProperties: false });
const OwnParameters = Type.Object({ ...period, group_by: group("day") }, { additionalProperties: false });

const describe = operationsOf("Gateway");
const responses = { 200: { description: "Sums", schema: UsageDocument } };

export function usageRoutes({ router, domain }: RouteContext) {
  const { usageReports } = domain;

  return router
    .get(
      "/admin/gateway/usage",
      async ({ request, query }) => {
        const wanted = { from: query.from, to: query.to, groupBy: query.group_by };
        const { organizationId } = principalOf(request);
        return json(toUsageDocument(await runInTurns(usageReports.report(organizationId, wanted))));
      },
      {
        requires: "administrator",
        query: AdminParameters,
        detail: describe("getGatewayUsage", "Inference usage of the organization", responses),
      },
    )
    .get(
      "/gateway/usage",
      async ({ request, query }) => {
        const { organizationId, userId } = principalOf(request);
        const wanted = { from: query.from, to: query.to, groupBy: query.group_by, userId };
        return json(toUsageDocument(await runInTurns(usageReports.report(organizationId, wanted, "day"))));
      },
      {
        requires: "governance:read",
        query: OwnParameters,
        detail: describe("getOwnGatewayUsage", "Inference usage of the caller", responses),
      },
    );
}
