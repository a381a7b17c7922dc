// API for administrators: reads the gateway keys of all users, and changes one key or all. No response contains a
// credential. routes/gateway/gateway.ts has the operations on the caller's own key.
import { Type } from "@sinclair/typebox";
import type { KeyResult } from "../../../domain/gateway/administration/administration.ts";
import {
  GatewayKeyChange,
  keyDocument,
  OneGatewayKey,
  readKeyQuery,
  ShownGatewayKeyList,
} from "../../../domain/gateway/administration/key-document.ts";
import { STORED_STATES } from "../../../domain/gateway/administration/stored-states.ts";
import type { User } from "../../../domain/identity/service.ts";
import { SEARCH_LENGTH_MAX, toKeyedEnvelope } from "../../../domain/shared/page.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { KeyedParameters, parameter, Uuid } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const KeyParameters = Type.Object(
  {
    q: parameter({ maxLength: SEARCH_LENGTH_MAX, description: "Part of the user's address" }),
    user_id: parameter({ format: "uuid", description: "The key of this user" }),
    state: parameter({ enum: STORED_STATES }),
    problem: parameter({
      enum: ["true", "false"],
      description: "`true`: only keys whose last attempt failed or that the gateway rejected",
    }),
    expires_within: parameter({ description: "Only keys that expire in this time, such as 7d, 12h or 30m" }),
    ...KeyedParameters,
  },
  { additionalProperties: false },
);
const UserPath = Type.Object({ user: Uuid });
const EnsureRequest = Type.Object(
  {
    manual: Type.Optional(Type.Boolean({ description: "Skips the delay after failures; default false" })),
  },
  { additionalProperties: false },
);
const Reconciliation = Type.Object({
  keys: Type.Integer({ minimum: 0, description: "keys that are due now" }),
  revocations: Type.Integer({ minimum: 0, description: "revocations that are due now" }),
});

const describe = operationsOf("Gateway");
const changed = { 200: { description: "The key after the change", schema: GatewayKeyChange } };
const made = {
  ...changed,
  400: { description: "The gateway's configuration is not valid" },
  409: { description: "Gateway mode is off, the user is not active, or the gateway has conflicting entries" },
  502: { description: "The gateway is unavailable, or refused" },
  503: { description: "There is no usable key yet" },
};
const described = {
  list: describe("listGatewayKeys", "Stored gateway keys by address, without credentials", {
    200: { description: "Page by key", schema: ShownGatewayKeyList },
  }),
  find: describe("getGatewayKeyOfUser", "The gateway key of one user, without the credential", {
    200: { description: "The key; its state is `missing` if there is none", schema: OneGatewayKey },
  }),
  ensure: describe("ensureGatewayKeyOfUser", "Give a user a working gateway key", made),
  rotate: describe(
    "rotateGatewayKeyOfUser",
    "Replace the gateway key of a user; the old one works until the new one exists",
    made,
  ),
  revoke: describe(
    "revokeGatewayKeyOfUser",
    "Revoke the gateway key of a user, here immediately and at the gateway as soon as it is reachable",
    changed,
  ),
  reconcile: describe(
    "reconcileGatewayKeys",
    "Make every key and revocation due; the service reconciles them",
    {
      202: { description: "What is due", schema: Reconciliation },
      409: { description: "Gateway mode is off" },
    },
  ),
};

const toChange = ({ changed, key }: KeyResult) => json({ changed, key: keyDocument(key) });

export function adminGatewayKeyRoutes({ router, domain }: RouteContext) {
  const { administration, directory, keys } = domain.gateway;
  const userOf = (request: Request, id: string): User =>
    domain.identity.users.find(principalOf(request).organizationId, id.toLowerCase());

  return router
    .get(
      "/admin/gateway/keys",
      async ({ request, query }) => {
        const page = await directory.listByKey(principalOf(request).organizationId, readKeyQuery(query));
        return json(toKeyedEnvelope(page, keyDocument));
      },
      { requires: "administrator", query: KeyParameters, detail: described.list },
    )
    .get(
      "/admin/gateway/keys/:user",
      ({ request, params }) => {
        const user = userOf(request, params.user);
        const revocations_pending = directory.revocationsOf(user);
        return json({ ...keyDocument(directory.show(user)), revocations_pending });
      },
      { requires: "administrator", params: UserPath, detail: described.find },
    )
    .post(
      "/admin/gateway/keys/reconcile",
      async ({ request }) => json(await administration.makeAllDue(actorOf(request)), { status: 202 }),
      { requires: "administrator", accepts: "nothing", detail: described.reconcile },
    )
    .post(
      "/admin/gateway/keys/:user/ensure",
      async ({ request, params, body }) => {
        const user = userOf(request, params.user);
        const { manual = false } = body;
        return toChange(await administration.ensure({ actor: actorOf(request), user, manual }));
      },
      {
        requires: "administrator",
        accepts: "json-or-nothing",
        params: UserPath,
        body: EnsureRequest,
        detail: described.ensure,
      },
    )
    .post(
      "/admin/gateway/keys/:user/rotate",
      async ({ request, params }) => {
        const user = userOf(request, params.user);
        return toChange(await administration.rotate({ actor: actorOf(request), user }));
      },
      { requires: "administrator", accepts: "nothing", params: UserPath, detail: described.rotate },
    )
    .post(
      "/admin/gateway/keys/:user/revoke",
      async ({ request, params }) => {
        const user = userOf(request, params.user);
        const changed = await keys.revoke({ actor: actorOf(request), user });
        return toChange({ changed, key: directory.show(user) });
      },
      { requires: "administrator", accepts: "nothing", params: UserPath, detail: described.revoke },
    );
}
