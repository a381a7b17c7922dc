// The model catalog for administrators: read it, refresh it, acknowledge changed models, and assign models to agents. Without
// gateway mode none of it exists.
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Domain } from "../../../domain/domain.ts";
import { GATEWAY_MODELS_MAX } from "../../../domain/governance/model.ts";
import type { Revision } from "../../../domain/governance/service.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import { ModelCatalogView } from "../../../domain/inference/models/view.ts";
import { MODEL_ID_CHARACTERS_MAX } from "../../../domain/shared/model-ids.ts";
import { IF_MATCH, IF_NONE_MATCH, jsonConditionally } from "../../http/conditional.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { withHeaders } from "../../http/header-parameters.ts";
import { HttpError } from "../../http/problems/problem.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import { publishOnBaseRevision } from "../../policy-api/base-revision.ts";
import type { RouteContext } from "../../router.ts";

const Acknowledgement = Type.Object(
  {
    model_id: Type.String(),
    fingerprint: Type.String({ description: "The fingerprint that the administrator saw" }),
  },
  { additionalProperties: false },
);
const Acknowledged = Type.Object({ acknowledged: Type.Literal(true) });

/** Validated by the service, because a publication checks the base revision first. */
const HarnessPath = Type.Object({ harness: Type.Unsafe<string>(Type.String({ enum: [...HARNESS_KEYS] })) });
const Assignment = Type.Object(
  {
    base_revision: Type.Optional(
      Type.String({
        description: "The revision that the author started from; optional with If-Match",
      }),
    ),
    comment: Type.Optional(Type.String()),
    gateway_models: Type.Array(Type.String(), {
      description: `Up to ${GATEWAY_MODELS_MAX} ids of up to ${MODEL_ID_CHARACTERS_MAX} characters; none removes the assignment`,
    }),
    default_model: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          "The model that the agent starts with, one of the list; null for none; the current one if omitted",
      }),
    ),
  },
  { additionalProperties: false },
);
const Assigned = Type.Object({ revision: Type.String(), harness: Type.String() });

const documented = operationsOf("Gateway");
const off = { 404: { description: "`gateway.off`: gateway mode is off" } };
const catalog = { 200: { description: "Catalog", schema: ModelCatalogView } };

const described = {
  read: withHeaders(
    documented("getGatewayModels", "Models of the gateway and their assignment to agents", {
      ...catalog,
      404: { description: "Gateway mode is off, or no policy is published" },
    }),
    IF_NONE_MATCH,
  ),
  refresh: documented("refreshGatewayModels", "Fetch the models from the gateway", {
    200: {
      description:
        "The catalog; `sync.discovery_supported` is false if the provisioner cannot list models. A request during a refresh joins it",
      schema: ModelCatalogView,
    },
    ...off,
    502: { description: "The gateway refused, or its response is unusable; the catalog does not change" },
    503: { description: "The gateway did not answer; the catalog does not change" },
  }),
  acknowledge: documented("acknowledgeGatewayModel", "Accept the current state of a model", {
    200: { description: "Done, now or before", schema: Acknowledged },
    404: { description: "Gateway mode is off, or the gateway has never offered the model" },
    409: { description: "`gateway.model_changed`: the model has another fingerprint now" },
  }),
  assign: withHeaders(
    documented("assignGatewayModels", "Assign models to an agent, as a new policy revision", {
      200: { description: "Published revision, or the current one when nothing changed", schema: Assigned },
      400: {
        description:
          "The agent is unknown or not allowed, an id is not usable, or the default model is not in the list",
      },
      404: { description: "Gateway mode is off, or no policy is published" },
      409: { description: "The policy has changed since the base revision" },
    }),
    IF_MATCH,
  ),
};

export function gatewayModelRoutes({ router, domain }: RouteContext) {
  const tagOf = ({ id }: Revision): string => `"${id}"`;
  // Declared between `requires` and `accepts`, so that an authorized caller gets 404 before the body is read.
  const gatewayMode = new Elysia({ name: "gateway-mode" }).macro({
    needsGateway: { transform: () => void catalogOf(domain) },
  });

  return router
    .use(gatewayMode)
    .get(
      "/admin/gateway/models",
      ({ request }) =>
        jsonConditionally(request, catalogOf(domain).view(principalOf(request).organizationId)),
      { requires: "administrator", detail: described.read },
    )
    .post(
      "/admin/gateway/models/refresh",
      async ({ request }) => {
        const models = catalogOf(domain);
        await models.refreshFor(actorOf(request));
        return json(models.view(principalOf(request).organizationId));
      },
      { requires: "administrator", accepts: "nothing", detail: described.refresh },
    )
    .post(
      "/admin/gateway/models/acknowledge",
      async ({ request, body: { model_id: modelId, fingerprint } }) => {
        await catalogOf(domain).acknowledge(actorOf(request), { modelId, fingerprint });
        return json({ acknowledged: true });
      },
      {
        requires: "administrator",
        needsGateway: true,
        accepts: "json",
        body: Acknowledgement,
        detail: described.acknowledge,
      },
    )
    .put(
      "/admin/gateway/models/harnesses/:harness",
      async ({ request, params: { harness }, body }) => {
        const { governance } = domain;
        const current = () => governance.revisions.inForce(principalOf(request).organizationId);
        const authored = { stated: body.base_revision, current, tagOf };
        const { id } = await publishOnBaseRevision(request, authored, (baseRevision) =>
          governance.publishing.publishModels(actorOf(request), {
            harness,
            baseRevision,
            gatewayModels: body.gateway_models,
            defaultModel: body.default_model,
            comment: body.comment,
          }),
        );
        return json({ revision: id, harness }, { headers: { etag: `"${id}"` } });
      },
      {
        requires: "administrator",
        needsGateway: true,
        accepts: "json",
        params: HarnessPath,
        body: Assignment,
        detail: described.assign,
      },
    );
}

/** @throws HttpError 404 if gateway mode is off */
function catalogOf({
  gateway,
  modelCatalog,
}: Pick<Domain, "gateway" | "modelCatalog">): Domain["modelCatalog"] {
  if (gateway.mode) return modelCatalog;
  throw new HttpError(404, "gateway.off", "gateway mode is off");
}
