// Revisions of the policy: one revision, the difference between two, rollout, effect on a user, and rollback.
import { Type } from "@sinclair/typebox";
import { RolloutView, toRollout } from "../../../domain/clients/rollout/rollout-wire.ts";
import { AdminConfig } from "../../../domain/governance/reading/admin-view.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import { refuseMissing } from "../../http/bodies/missing-parameters.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { parameter } from "../../http/paging.ts";
import { json, jsonBytes, jsonOfParts } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import { explanationDocument } from "../../policy-api/explanation.ts";
import type { RouteContext } from "../../router.ts";

const revisionNamed = { type: "string", description: "Id or number of a revision" };
/** Not validated, because any other text is an unknown revision. */
const RevisionPath = Type.Object({ revision: Type.Unknown(revisionNamed) });
const DiffParameters = Type.Object(
  {
    from: parameter({ ...revisionNamed, description: "Id or number; the one before `to` if omitted" }),
    to: parameter({ ...revisionNamed, description: "Id or number; the current one if omitted" }),
  },
  { additionalProperties: false },
);
const ExplainParameters = Type.Object(
  {
    user_id: parameter({ description: "Required: id or address of the user" }),
    harness: parameter({ enum: HARNESS_KEYS, description: "Required" }),
    installed: parameter({ description: "Installed version of the harness, such as 1.2.3" }),
    revision: parameter({ ...revisionNamed, description: "Id or number; the current one if omitted" }),
  },
  { additionalProperties: false },
);
const Rollback = Type.Object(
  {
    revision: Type.String({ description: "The revision to publish again, with its audiences" }),
    base_revision: Type.String({ description: "The revision that the author started from" }),
    comment: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

const Difference = Type.Object({
  from: Type.String(),
  to: Type.String(),
  changes: Type.Array(
    Type.Object({
      path: Type.String({ description: "Entries of lists are identified by id or name" }),
      order: Type.Optional(
        Type.Literal(true, { description: "Only the order of the list differs; both sides contain names" }),
      ),
      before: Type.Optional(Type.Unknown()),
      after: Type.Optional(Type.Unknown()),
    }),
  ),
});
const Line = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]);
const UserExplanation = Type.Object({
  user: Type.Object({ id: Type.String(), email: Type.String() }),
  revision: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  published_at: Type.String({ format: "date-time" }),
  harness: Type.String(),
  allowed: Type.Boolean(),
  required: Type.Boolean(),
  version_refusal: Type.Union([Type.String(), Type.Null()]),
  values: Type.Array(Type.Object({ pointer: Type.String(), value: Type.Unknown(), line: Line })),
  defaults: Type.Array(Type.String(), {
    description: "Pointers of known settings that the policy leaves to the harness and its user",
  }),
  packages: Type.Array(
    Type.Object({ id: Type.String(), version: Type.String(), state: Type.String(), line: Line }),
  ),
});

const documented = operationsOf("Administration");
const absent = { 404: { description: "There is no such revision" } };
const described = {
  read: documented("getGovernanceRevision", "One revision of the policy", {
    200: { description: "Revision", schema: AdminConfig },
    ...absent,
    503: { description: "`document.busy`: Retry-After says when to try again" },
  }),
  rollout: documented("getPolicyRollout", "Rollout of a revision to workstations", {
    200: { description: "Counts, refusals and samples", schema: RolloutView },
    ...absent,
  }),
  diff: documented("diffGovernanceRevisions", "Difference between two revisions", {
    200: { description: "Every place that differs", schema: Difference },
    ...absent,
  }),
  explain: documented("explainPolicy", "The effect of a revision on one user, with reasons", {
    200: { description: "Values and packages with their lines", schema: UserExplanation },
    400: { description: "A parameter is missing, or the harness or the version is unknown" },
    404: { description: "There is no such user or revision" },
  }),
  rollback: documented("rollbackGovernanceConfig", "Publish a former revision again", {
    200: { description: "Published revision, or the current one when nothing changed", schema: AdminConfig },
    ...absent,
    409: { description: "The policy has changed since the base revision" },
  }),
};

export function revisionRoutes({ router, domain: { clients, governance, identity } }: RouteContext) {
  const { publishing, revisions, views } = governance;
  const named = (organizationId: string, reference: string | undefined) =>
    reference === undefined ? revisions.inForce(organizationId) : revisions.named(organizationId, reference);

  return router
    .get(
      "/admin/governance-config/revisions/:revision",
      async ({ request, params }) => {
        const { organizationId } = principalOf(request);
        return jsonBytes(await views.adminConfig(named(organizationId, String(params.revision))));
      },
      { requires: "administrator", params: RevisionPath, detail: described.read },
    )
    .get(
      "/admin/governance-config/revisions/:revision/rollout",
      async ({ request, params }) => {
        const { organizationId } = principalOf(request);
        const revision = named(organizationId, String(params.revision));
        const inForce = revisions.inForce(organizationId).id;
        return json(toRollout(await clients.rollouts.shared(revision, inForce)));
      },
      { requires: "administrator", params: RevisionPath, detail: described.rollout },
    )
    .get(
      "/admin/governance-config/diff",
      async ({ request, query }) => {
        const { organizationId } = principalOf(request);
        const to = named(organizationId, query.to);
        const from =
          query.from === undefined ? revisions.before(organizationId, to) : named(organizationId, query.from);
        const { text: changes } = await views.difference(from, to);
        return await jsonOfParts({ from: from.id, to: to.id }, { changes });
      },
      { requires: "administrator", query: DiffParameters, detail: described.diff },
    )
    .get(
      "/admin/governance-config/explain",
      async ({ request, query }) => {
        refuseMissing(query, ["user_id", "harness"]);
        const { user_id: who = "", harness = "", installed: version, revision } = query;
        const { organizationId } = principalOf(request);
        const user = identity.users.find(organizationId, who);
        const question = { userId: user.id, harness, version };
        const selected = named(organizationId, revision);
        const explanation = await governance.explain({ organizationId }, question, selected);
        return json({ user: { id: user.id, email: user.email }, ...explanationDocument(explanation) });
      },
      { requires: "administrator", query: ExplainParameters, detail: described.explain },
    )
    .post(
      "/admin/governance-config/rollback",
      async ({ request, body: { revision, base_revision: baseRevision, comment } }) => {
        const { id: to } = named(principalOf(request).organizationId, revision);
        const published = await publishing.rollback(actorOf(request), { to, baseRevision, comment });
        return jsonBytes(await views.adminConfig(published));
      },
      { requires: "administrator", accepts: "json", body: Rollback, detail: described.rollback },
    );
}
