// Operations that provide, replace or revoke many gateway keys. The gateway area decides what happens to each key.
import { type Static, Type } from "@sinclair/typebox";
import {
  BULK_KEY_ACTIONS,
  type BulkKeyAction,
  type KeySelection,
} from "../../../domain/gateway/administration/bulk-key-changes.ts";
import { STORED_STATES } from "../../../domain/gateway/administration/stored-states.ts";
import { BulkResult } from "../../../domain/shared/bulk.ts";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import { bulkBody, runBulk } from "../../http/bulk.ts";
import { actorOf } from "../../http/exchange.ts";
import { Uuid } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/** The same filters as in the query of the list. */
const KeyFilter = {
  q: Type.Optional(Type.String({ description: `Text to find, at most ${SEARCH_LENGTH_MAX} characters` })),
  user_id: Type.Optional(Uuid),
  state: Type.Optional(Type.String({ enum: STORED_STATES })),
  problem: Type.Optional(Type.Boolean()),
  expires_within: Type.Optional(Type.String({ description: "A time such as 7d, 12h or 30m" })),
};

const KeyBulk = bulkBody(KeyFilter, {
  action: Type.Union(BULK_KEY_ACTIONS.map((action) => Type.Literal<BulkKeyAction>(action))),
});
type Filter = NonNullable<Static<typeof KeyBulk>["filter"]>;

const described = operationsOf("Gateway")(
  "changeGatewayKeys",
  "Provide, replace or revoke the gateway keys of many users; `ids` are those of the users",
  {
    200: { description: "The result of each key of this slice", schema: BulkResult },
    409: { description: "Gateway mode is off, or more keys match than expected" },
  },
);

export function gatewayKeyBulkRoutes({ router, domain }: RouteContext) {
  const { bulkKeys } = domain.gateway;

  return router.post(
    "/admin/gateway/keys/change",
    async ({ request, body }) => {
      const actor = actorOf(request);
      const result = await runBulk<Filter, KeySelection>(body, {
        reason: "gateway_key.invalid",
        selectionOf: (chosen) =>
          "ids" in chosen ? chosen : { filter: queryOf(chosen.filter), text: chosen.text },
        count: (selection) => bulkKeys.count(actor.organizationId, selection),
        slice: (slice) => bulkKeys.slice(actor, { act: body.action, ...slice }),
      });
      return json(result);
    },
    { requires: "administrator", accepts: "json", body: KeyBulk, detail: described },
  );
}

const queryOf = ({ problem, ...filter }: Filter) => ({
  ...filter,
  problem: problem === undefined ? undefined : String(problem),
});
