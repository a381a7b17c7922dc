// Previews of changes of the policy: the problems of a text, and the effect of a draft. They publish nothing.
import { type Static, Type } from "@sinclair/typebox";
import { PolicyImpactView, toPolicyImpact } from "../../../domain/clients/rollout/impact-wire.ts";
import { IMPACT_TURN_MS } from "../../../domain/clients/service.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { DomainError } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const Text = Type.Object(
  {
    managed_yaml: Type.String({ description: "The text as YAML or JSON" }),
    part: Type.Optional(
      Type.Union([Type.Literal("policy"), ...HARNESS_KEYS.map((key) => Type.Literal(key))], {
        description:
          "`policy`, the default: the policy without extensions; a harness: its settings, with the rest from the caller's draft or the current policy",
      }),
    ),
  },
  { additionalProperties: false },
);
const Checked = Type.Object({
  valid: Type.Boolean(),
  problems: Type.Array(
    Type.Object({
      pointer: Type.String(),
      detail: Type.String(),
      line: Type.Optional(Type.Integer({ minimum: 1 })),
      column: Type.Optional(Type.Integer({ minimum: 1, description: "Within the line, in UTF-16 units" })),
    }),
  ),
});
const Previewed = Type.Object(
  {
    draft: Type.Optional(
      Type.String({ description: "Id of a draft; without it and without a document, the caller's draft" }),
    ),
    document: Type.Optional(
      Type.Object(
        {},
        {
          description: "A whole document instead of a draft, in the format of `GET /admin/governance-config`",
        },
      ),
    ),
  },
  { additionalProperties: false },
);

const documented = operationsOf("Administration");
const busy = {
  503: {
    description: "`document.busy`, `document.too_slow`: Retry-After gives the time until the next attempt",
  },
};
const described = {
  check: documented("checkGovernanceConfig", "All problems of a text of the policy; publishes nothing", {
    200: { description: "Problems with their lines", schema: Checked },
    404: { description: "No policy is published" },
    ...busy,
  }),
  impact: documented(
    "previewPolicyImpact",
    "Users and workstations that a draft or a document of the policy would affect",
    {
      200: { description: "Effect", schema: PolicyImpactView },
      400: {
        description:
          "`governance.invalid`: the document has problems; `policy.impact`: a draft and a document",
      },
      404: { description: "`policy_draft.none`: there is no such draft" },
    },
  ),
};

export function policyPreviewRoutes({ router, domain: { clients, governance } }: RouteContext) {
  const { drafts, previews, revisions } = governance;
  const wantedBy = async (actor: Actor, { draft, document }: Static<typeof Previewed>) => {
    if (document === undefined)
      return draft === undefined ? drafts.existing(actor) : drafts.show(actor, draft);
    if (draft === undefined) return await previews.document(actor, document);
    throw new DomainError("invalid", "policy.impact", "name either a draft or a document");
  };
  return router
    .post(
      "/admin/governance-config/check",
      async ({ request, body: { managed_yaml: text, part = "policy" } }) => {
        const problems = await previews.check(actorOf(request), text, part);
        return json({ valid: problems.length === 0, problems });
      },
      { requires: "administrator", accepts: "json", body: Text, detail: described.check },
    )
    .post(
      "/admin/governance-config/impact",
      async ({ request, body }) => {
        const actor = actorOf(request);
        const after = await wantedBy(actor, body);
        const before = revisions.inForce(actor.organizationId);
        const impact = await runInTurns(
          clients.impactOf(actor.organizationId, { before, after }),
          IMPACT_TURN_MS,
        );
        return json(toPolicyImpact(impact));
      },
      { requires: "administrator", accepts: "json", body: Previewed, detail: described.impact },
    );
}
