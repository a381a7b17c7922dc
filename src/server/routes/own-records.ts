// The caller's own records: workstations, and the effect of the policy.
import { type Static, Type } from "@sinclair/typebox";
import { AdminClientStatusPage, toAdminClientStatus } from "../../domain/clients/inventory/documents.ts";
import type { Explanation } from "../../domain/governance/service.ts";
import { HARNESS_KEYS } from "../../domain/harnesses/harnesses.ts";
import { toPageEnvelope } from "../../domain/shared/page.ts";
import { refuseMissing } from "../http/bodies/missing-parameters.ts";
import { principalOf } from "../http/exchange.ts";
import { PageParameters, parameter, toPageQuery } from "../http/paging.ts";
import { json } from "../http/responses.ts";
import { operationsOf } from "../openapi.ts";
import { explanationDocument } from "../policy-api/explanation.ts";
import type { RouteContext } from "../router.ts";
import { ownConsoleRoutes } from "./own-console.ts";

const ClientParameters = Type.Object(
  { page: PageParameters.page, per_page: PageParameters.per_page },
  { additionalProperties: false },
);
const ExplainParameters = Type.Object(
  {
    harness: parameter({ enum: HARNESS_KEYS, description: "Needed" }),
    installed: parameter({ description: "Installed version of the harness, such as 1.2.3" }),
  },
  { additionalProperties: false },
);

/** states of a package that the caller may see */
const OFFERED_STATES = ["installed", "disabled", "other_harness", "other_version"] as const;
const Line = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
  description: "in the canonical text of the revision",
});
const PolicyExplanation = Type.Object({
  revision: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  published_at: Type.String({ format: "date-time" }),
  harness: Type.Union(HARNESS_KEYS.map((key) => Type.Literal(key))),
  allowed: Type.Boolean({ description: "whether the harness may run" }),
  required: Type.Boolean({ description: "whether workstations refuse to run on a stale policy" }),
  version_refusal: Type.Union([Type.String(), Type.Null()], {
    description: "reason why the installed version may not run; null if it may, or if none was given",
  }),
  values: Type.Array(
    Type.Object({
      pointer: Type.String({ description: "RFC 6901 pointer into the policy" }),
      value: Type.Unknown(),
      line: Line,
    }),
  ),
  defaults: Type.Array(Type.String(), {
    description: "Pointers of known settings that the policy leaves to the harness and its user",
  }),
  packages: Type.Array(
    Type.Object({
      id: Type.String(),
      version: Type.String(),
      state: Type.Union(OFFERED_STATES.map((state) => Type.Literal(state))),
      line: Line,
    }),
    { description: "Without packages for other audiences" },
  ),
});

const documented = operationsOf("Own account");
const described = {
  listOwnClients: documented("listOwnClients", "The caller's workstations, most recently seen first", {
    200: { description: "Numbered page", schema: AdminClientStatusPage },
  }),
  explainOwnPolicy: documented(
    "explainOwnPolicy",
    "The effect of the current policy on the caller, with reasons",
    {
      200: { description: "Values and packages with their lines", schema: PolicyExplanation },
      400: { description: "The harness is missing or unknown, or the version is unknown" },
      404: { description: "No policy is published" },
    },
  ),
};

/** Adds the operations of callers on their own records. */
export function ownRoutes(context: RouteContext): void {
  ownRecordRoutes(context);
  ownConsoleRoutes(context);
}

function ownRecordRoutes({ router, domain }: RouteContext) {
  return router
    .get(
      "/me/clients",
      ({ request, query }) => {
        const { organizationId, userId } = principalOf(request);
        const page = domain.clients.inventory.list(organizationId, { ...toPageQuery(query), userId });
        const envelope = toPageEnvelope(page, toAdminClientStatus);
        return json({ ...envelope, current_revision: page.currentRevision });
      },
      { requires: "governance:read", query: ClientParameters, detail: described.listOwnClients },
    )
    .get(
      "/me/policy/explain",
      async ({ request, query }) => {
        refuseMissing(query, ["harness"]);
        const { harness = "", installed: version } = query;
        const principal = principalOf(request);
        const question = { userId: principal.userId, harness, version };
        return json(toWire(await domain.governance.explain(principal, question)));
      },
      { requires: "governance:read", query: ExplainParameters, detail: described.explainOwnPolicy },
    );
}

/** Does not name packages that are offered only to other users. */
function toWire(explanation: Explanation): Static<typeof PolicyExplanation> {
  const { packages, ...document } = explanationDocument(explanation);
  const offered = packages.flatMap(({ state, line, ...offer }) =>
    state === "hidden" ? [] : [{ ...offer, state, line }],
  );
  return { ...document, packages: offered };
}
