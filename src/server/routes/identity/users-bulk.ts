// Changing many users, for programs. The identity area decides what may happen to each of them.
import { type Static, Type } from "@sinclair/typebox";
import { PROVISIONING_SOURCES, ROLES, USER_STATUSES } from "../../../domain/identity/model.ts";
import { BULK_USER_ACTIONS, type UserSelection } from "../../../domain/identity/users/bulk-changes.ts";
import { BulkResult } from "../../../domain/shared/bulk.ts";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import { bulkBody, runBulk } from "../../http/bulk.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/** As in the query of the list. */
const UserFilter = {
  q: Type.Optional(Type.String({ description: `Text to find, at most ${SEARCH_LENGTH_MAX} characters` })),
  role: Type.Optional(Type.String({ enum: ROLES })),
  status: Type.Optional(Type.String({ enum: USER_STATUSES })),
  provisioning_source: Type.Optional(Type.String({ enum: PROVISIONING_SOURCES })),
};

const UserBulk = bulkBody(UserFilter, {
  action: Type.String({ enum: BULK_USER_ACTIONS }),
});
type Filter = NonNullable<Static<typeof UserBulk>["filter"]>;

const described = operationsOf("User management")(
  "changeUsers",
  "Suspend or resume many users, end their logins or change their role",
  {
    200: { description: "The result of each user of this slice", schema: BulkResult },
    409: { description: "More users match than expected" },
  },
);

export function userBulkRoutes({ router, domain }: RouteContext) {
  const { bulkChanges } = domain.identity;

  return router.post(
    "/admin/users/change",
    async ({ request, body }) => {
      const actor = actorOf(request);
      const result = await runBulk<Filter, UserSelection>(body, {
        reason: "identity.invalid",
        selectionOf: (chosen) =>
          "ids" in chosen ? chosen : { filter: queryOf(chosen.filter), text: chosen.text },
        count: (selection) => bulkChanges.count(actor.organizationId, selection),
        slice: (slice) => bulkChanges.slice(actor, { action: body.action, ...slice }),
      });
      return json(result);
    },
    { requires: "administrator", accepts: "json", body: UserBulk, detail: described },
  );
}

const queryOf = ({ q, role, status, provisioning_source: provisioningSource }: Filter) => ({
  q,
  role,
  status,
  provisioningSource,
});
