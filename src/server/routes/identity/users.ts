// User management for administrators. The identity area decides what an administrator may change.
import { type Static, Type } from "@sinclair/typebox";
import { NOT_SEEN_DAYS_MAX } from "../../../domain/clients/limits.ts";
import type { UserQuery } from "../../../domain/identity/directory/user-directory.ts";
import {
  AdminUser,
  AdminUserPage,
  ChangedAdminUser,
  PROVISIONING_SOURCES,
  ROLES,
  SETTABLE_STATUSES,
  toAdminUser,
  toChangedAdminUser,
  USER_SEARCH_MAX,
  USER_STATUSES,
} from "../../../domain/identity/model.ts";
import { toPageEnvelope } from "../../../domain/shared/page.ts";
import { NO_WORKSTATION, readUserFilters } from "../../../domain/user-filters.ts";
import { runInTurns } from "../../../platform/steps.ts";
import {
  expectationOf,
  IF_MATCH,
  IF_NONE_MATCH,
  jsonConditionally,
  recordConditionally,
  recordTag,
} from "../../http/conditional.ts";
import { DryRunParameters, isDryRun } from "../../http/dry-run.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { withHeaders } from "../../http/header-parameters.ts";
import { PageParameters, parameter, toPageQuery, toWholeNumber, Uuid } from "../../http/paging.ts";
import { json, jsonList, noContent } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const UserPath = Type.Object({ id: Uuid });

export const GROUP_TEXT = "Members of this group: id, name or external id";
export const NOT_SEEN_TEXT =
  "Users whose workstations sent no report for this many days, and users without a workstation";

const UserParameters = Type.Object(
  {
    ...PageParameters,
    role: parameter({ enum: ROLES }),
    status: parameter({ enum: USER_STATUSES }),
    provisioning_source: parameter({ enum: PROVISIONING_SOURCES }),
    group: parameter({ description: GROUP_TEXT }),
    workstations: parameter({ enum: [NO_WORKSTATION] }),
    not_seen_for_days: parameter({
      type: "integer",
      minimum: 1,
      maximum: NOT_SEEN_DAYS_MAX,
      description: NOT_SEEN_TEXT,
    }),
  },
  { additionalProperties: false },
);

const UserUpdate = Type.Object(
  {
    role: Type.Optional(Type.String({ enum: ROLES })),
    status: Type.Optional(Type.String({ enum: SETTABLE_STATUSES })),
  },
  { additionalProperties: false, description: "At least one member" },
);

const UserSearch = Type.Object(
  { q: Type.Optional(Type.String()), selected_user_ids: Type.Optional(Type.Array(Uuid)) },
  { additionalProperties: false },
);

const oneUser = { 200: { description: "The user", schema: AdminUser } };
const guarded = {
  409: {
    description:
      "The account is removed, the caller's own, protected, managed by an identity provider, or the last administrator",
  },
};

const documented = operationsOf("User management");

const described = {
  listUsers: withHeaders(
    documented("listUsers", "Users of the organization, removed ones included", {
      200: { description: "Numbered page", schema: AdminUserPage },
    }),
    IF_NONE_MATCH,
  ),
  listUserOptions: documented("listUserOptions", "All users that are not removed", {
    200: { description: "Users", schema: Type.Array(AdminUser) },
  }),
  searchUserOptions: documented(
    "searchUserOptions",
    "Selected users, then active ones whose address matches",
    {
      200: { description: "Matches", schema: Type.Array(AdminUser, { maxItems: USER_SEARCH_MAX }) },
    },
  ),
  getUser: withHeaders(documented("getUser", "One user of the organization", oneUser), IF_NONE_MATCH),
  updateUser: withHeaders(
    documented(
      "updateUser",
      "Change the role, suspend or resume; ends every login of the user, even if the values are the same, and cancels pending invitations from a former administrator",
      { 200: { description: "The user after the change", schema: ChangedAdminUser }, ...guarded },
    ),
    IF_MATCH,
  ),
  deleteUser: withHeaders(
    documented("deleteUser", "Remove a user's access and pending invitations, keeping history", {
      204: { description: "Removed, now or earlier" },
      ...guarded,
    }),
    IF_MATCH,
  ),
  revokeUserSessions: documented("revokeUserSessions", "End every login of a user", {
    204: { description: "Ended" },
    409: { description: "The user is removed" },
  }),
};

export function userRoutes(context: RouteContext) {
  const { users } = context.domain.identity;
  const wanted = (organizationId: string, query: Static<typeof UserParameters>): UserQuery => {
    const { role, status, provisioning_source: provisioningSource, group, workstations } = query;
    const more = { group, workstations, notSeenForDays: toWholeNumber(query.not_seen_for_days) };
    const others = readUserFilters(context.domain, { organizationId, ...more });
    return { ...toPageQuery(query), role, status, provisioningSource, ...others };
  };

  userOptionRoutes(context);
  return context.router
    .get(
      "/admin/users",
      async ({ request, query }) => {
        const { organizationId } = principalOf(request);
        const page = await runInTurns(users.listInSteps(organizationId, wanted(organizationId, query)));
        return jsonConditionally(request, toPageEnvelope(page, toAdminUser));
      },
      { requires: "administrator", query: UserParameters, detail: described.listUsers },
    )
    .get(
      "/admin/users/:id",
      ({ request, params }) =>
        recordConditionally(
          request,
          toAdminUser(users.show(principalOf(request).organizationId, params.id.toLowerCase())),
        ),
      { requires: "administrator", params: UserPath, detail: described.getUser },
    )
    .patch(
      "/admin/users/:id",
      async ({ request, params, body, query }) => {
        const update = { ...body, expect: expectationOf(request, toAdminUser) };
        if (isDryRun(query)) {
          const preview = users.checkUpdate(actorOf(request), params.id.toLowerCase(), update);
          return json(toChangedAdminUser(preview)); // no ETag, because the record does not contain this state
        }
        const changed = await users.update(actorOf(request), params.id.toLowerCase(), update);
        return json(toChangedAdminUser(changed), { headers: { etag: recordTag(toAdminUser(changed)) } });
      },
      {
        requires: "administrator",
        accepts: "json",
        params: UserPath,
        query: DryRunParameters,
        body: UserUpdate,
        detail: described.updateUser,
      },
    )
    .delete(
      "/admin/users/:id",
      async ({ request, params }) => {
        await users.remove(actorOf(request), params.id.toLowerCase(), expectationOf(request, toAdminUser));
        return noContent();
      },
      { requires: "administrator", accepts: "nothing", params: UserPath, detail: described.deleteUser },
    )
    .post(
      "/admin/users/:id/sessions/revoke",
      async ({ request, params }) => {
        await users.revokeLogins(actorOf(request), params.id.toLowerCase());
        return noContent();
      },
      {
        requires: "administrator",
        accepts: "nothing",
        params: UserPath,
        detail: described.revokeUserSessions,
      },
    );
}

/** @returns the lists for choosing a user */
function userOptionRoutes({ router, domain, spendSearch }: RouteContext) {
  const { users } = domain.identity;

  return router
    .get(
      "/admin/users/options",
      async ({ request }) => {
        const options = await runInTurns(users.options(principalOf(request).organizationId));
        return await jsonList(options, toAdminUser);
      },
      { requires: "administrator", detail: described.listUserOptions },
    )
    .post(
      "/admin/users/options",
      async ({ request, body }) => {
        spendSearch(principalOf(request));
        const wanted = { q: body.q, selectedUserIds: body.selected_user_ids };
        const options = users.searchOptions(principalOf(request).organizationId, wanted);
        return json((await runInTurns(options)).map(toAdminUser));
      },
      { requires: "administrator", accepts: "json", body: UserSearch, detail: described.searchUserOptions },
    );
}
