// API for the overview of the installation: whether it is in order, and what changed last.

import { json } from "../../http/answers.ts";
import { principalOf } from "../../http/exchange.ts";
import { operationsOf } from "../../openapi.ts";
import { OverviewDocument, overviewDocument } from "../../overview/document.ts";
import { createRouter, type RouteContext } from "../../router.ts";

const described = operationsOf("Administration")(
  "getOverview",
  "Problems, counts of workstations, users and keys, and the newest changes",
  { 200: { description: "The overview; its counts are some seconds old at most", schema: OverviewDocument } },
);

/** @returns the operation on the overview */
export const overviewRoutes = ({ guard, overview }: RouteContext) =>
  createRouter(guard, "overview").get(
    "/admin/overview",
    async ({ request }) => json(overviewDocument(await overview.read(principalOf(request).organizationId))),
    { requires: "administrator", detail: described },
  );
