// What a change of the policy would do, before anything is published: the problems of a text, and the effect of a draft.
import { Type } from "@sinclair/typebox";
import { PolicyImpactView, toPolicyImpact } from "../../../domain/clients/rollout/impact-wire.ts";
import { IMPACT_TURN_MS } from "../../../domain/clients/service.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { json } from "../../http/answers.ts";
import { actorOf } from "../../http/exchange.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const Text = Type.Object(
  { managed_yaml: Type.String({ description: "The policy without extensions, as YAML or JSON" }) },
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
  { draft: Type.Optional(Type.String({ description: "Id of a draft; left out, the own one" })) },
  { additionalProperties: false },
);

const documented = operationsOf("Administration");
const busy = {
  503: { description: "`document.busy`, `document.too_slow`: Retry-After says when to try again" },
};
const described = {
  check: documented("checkGovernanceConfig", "All problems of a policy text; publishes nothing", {
    200: { description: "Problems with their lines", schema: Checked },
    404: { description: "No policy is published" },
    ...busy,
  }),
  impact: documented("previewPolicyImpact", "Whom a draft of the policy would reach", {
    200: { description: "Effect", schema: PolicyImpactView },
    404: { description: "`policy_draft.none`: there is no such draft" },
  }),
};

/** @returns the operations that show what a change would do */
export function policyPreviewRoutes({ router, domain: { clients, governance } }: RouteContext) {
  const { drafts, revisions } = governance;
  return router
    .post(
      "/admin/governance-config/check",
      async ({ request, body }) => {
        const problems = await drafts.checkPolicy(actorOf(request), body.managed_yaml);
        return json({ valid: problems.length === 0, problems });
      },
      { requires: "administrator", accepts: "json", body: Text, detail: described.check },
    )
    .post(
      "/admin/governance-config/impact",
      async ({ request, body: { draft } }) => {
        const actor = actorOf(request);
        const after = draft === undefined ? drafts.existing(actor) : drafts.show(actor, draft);
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
