// Operations that change many users. The identity area decides what may happen to each one.
import { type Static, Type } from "@sinclair/typebox";
import { NOT_SEEN_DAYS_MAX } from "../../../domain/clients/limits.ts";
import type { UserQuery } from "../../../domain/identity/directory/user-directory.ts";
import { PROVISIONING_SOURCES, ROLES, USER_STATUSES } from "../../../domain/identity/model.ts";
import { BULK_USER_ACTIONS, type UserSelection } from "../../../domain/identity/users/bulk-changes.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { BulkResult } from "../../../domain/shared/bulk.ts";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import { NO_WORKSTATION, readUserFilters } from "../../../domain/user-filters.ts";
import { bulkBody, runBulk } from "../../http/bulk.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";
import { GROUP_TEXT, NOT_SEEN_TEXT } from "./users.ts";

/** The same filters as in the query of the list. */
const UserFilter = {
  q: Type.Optional(Type.String({ description: `Text to find, at most ${SEARCH_LENGTH_MAX} characters` })),
  role: Type.Optional(Type.String({ enum: ROLES })),
  status: Type.Optional(Type.String({ enum: USER_STATUSES })),
  provisioning_source: Type.Optional(Type.String({ enum: PROVISIONING_SOURCES })),
  group: Type.Optional(Type.String({ description: GROUP_TEXT })),
  workstations: Type.Optional(Type.String({ enum: [NO_WORKSTATION] })),
  not_seen_for_days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: NOT_SEEN_DAYS_MAX, description: NOT_SEEN_TEXT }),
  ),
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

  const queryOf = ({ organizationId }: Actor, filter: Filter): UserQuery => {
    const { q, role, status, provisioning_source: provisioningSource, group, workstations } = filter;
    const more = { group, workstations, notSeenForDays: filter.not_seen_for_days };
    const others = readUserFilters(domain, { organizationId, ...more });
    return { q, role, status, provisioningSource, ...others };
  };

  return router.post(
    "/admin/users/change",
    async ({ request, body }) => {
      const actor = actorOf(request);
      const result = await runBulk<Filter, UserSelection>(body, {
        reason: "identity.invalid",
        selectionOf: (chosen) =>
          "ids" in chosen ? chosen : { filter: queryOf(actor, chosen.filter), text: chosen.text },
        count: (selection) => bulkChanges.count(actor.organizationId, selection),
        slice: (slice) => bulkChanges.slice(actor, { action: body.action, ...slice }),
      });
      return json(result);
    },
    { requires: "administrator", accepts: "json", body: UserBulk, detail: described },
  );
}
