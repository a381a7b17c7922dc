// API for logins: all callers manage their own logins and password; administrators manage everyone's logins. The access
// area decides which logins end together.
import { Type } from "@sinclair/typebox";
import { loginIdOf } from "../../../domain/access/authentication/login-watch.ts";
import {
  LOGIN_KINDS,
  LOGIN_SHOWS,
  Login,
  LoginList,
  OwnLoginList,
  readLoginQuery,
  toLogin,
  toLoginList,
} from "../../../domain/access/logins/login-document.ts";
import { LOGINS_PER_PAGE_MAX } from "../../../domain/access/model.ts";
import { endedSummary } from "../../../domain/access/service.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "../../../domain/identity/users/passwords.ts";
import { DomainError, invariant } from "../../../platform/errors.ts";
import { Secret } from "../../../platform/secret.ts";
import { createBrowser } from "../../auth/browser.ts";
import { expiredSessionCookie } from "../../auth/cookies.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { parameter, Uuid } from "../../http/paging.ts";
import { json, noContent } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const KeyedPage = {
  kind: parameter({ enum: LOGIN_KINDS }),
  cursor: parameter({ format: "uuid", description: "`next_cursor` of the previous page" }),
  limit: parameter({
    type: "integer",
    minimum: 1,
    maximum: LOGINS_PER_PAGE_MAX,
    description: `${LOGINS_PER_PAGE_MAX} if omitted`,
  }),
};
const OwnParameters = Type.Object(KeyedPage, { additionalProperties: false });
const AdminParameters = Type.Object(
  {
    ...KeyedPage,
    user_id: parameter({ format: "uuid", description: "Logins of this user" }),
    show: parameter({ enum: LOGIN_SHOWS, description: `${LOGIN_SHOWS[0]} if omitted` }),
  },
  { additionalProperties: false },
);

const LoginPath = Type.Object({ id: Uuid });
const Revocation = Type.Object(
  {
    user_id: Type.Optional(Uuid),
    all: Type.Optional(Type.Literal(true, { description: "all logins of all users" })),
  },
  { additionalProperties: false, description: "Exactly one member" },
);
const PasswordChange = Type.Object(
  {
    current_password: Type.String(),
    new_password: Type.String({
      description: `${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
    }),
  },
  { additionalProperties: false },
);
const PasswordChanged = Type.Object({
  login_sessions_ended: Type.Integer({ minimum: 0, description: "other browsers that were signed out" }),
});

const EndedOthers = Type.Object({
  login_sessions: Type.Integer({ minimum: 0, description: "other browsers" }),
  grants: Type.Integer({ minimum: 0, description: "workstations" }),
  device_logins: Type.Integer({ minimum: 0, description: "unfinished sign-ins" }),
  password_links: Type.Integer({ minimum: 0, description: "unused password links" }),
});

const ended = { 204: { description: "Ended, now or earlier" } };
const own = operationsOf("Own account");
const admin = operationsOf("User management");
const described = {
  listOwnLogins: own("listOwnLogins", "Active logins of the caller, newest first", {
    200: { description: "Page by key", schema: OwnLoginList },
  }),
  endOwnLogin: own(
    "endOwnLogin",
    "End one login of the caller, and the workstations that it approved",
    ended,
  ),
  endOtherLogins: own(
    "endOtherLogins",
    "End every login of the caller except this browser session: other browsers and all workstations",
    { 200: { description: "The number of ended logins", schema: EndedOthers } },
  ),
  changeOwnPassword: own(
    "changeOwnPassword",
    "Change the caller's password; signs out every other browser and renews the session cookie of this one",
    {
      200: { description: "Changed", schema: PasswordChanged },
      409: { description: "The organization manages how the caller signs in" },
      429: { description: "Too many attempts; failed sign-ins count too" },
    },
  ),
  listLogins: admin("listLogins", "Logins of the organization, newest first", {
    200: { description: "Page by key", schema: LoginList },
  }),
  getLogin: admin("getLogin", "One login of the organization", {
    200: { description: "The login", schema: Login },
  }),
  revokeLogin: admin("revokeLogin", "End one login, and the workstations that it approved", ended),
  revokeLogins: admin("revokeLogins", "End every login of a user, or of all users", {
    204: { description: "Ended" },
    409: { description: "The user is removed" },
  }),
};

export function ownLoginRoutes(context: RouteContext) {
  const { router, domain, baseUrl } = context;
  const { ownLogins, passwordChanges } = domain.access;
  const browser = createBrowser(context);

  return router
    .get(
      "/me/logins",
      ({ request, query }) => {
        const currentId = loginIdOf(principalOf(request));
        const page = ownLogins.list(actorOf(request), readLoginQuery(query));
        return json(toLoginList(page, (login) => ({ ...toLogin(login), current: login.id === currentId })));
      },
      { requires: "governance:read", query: OwnParameters, detail: described.listOwnLogins },
    )
    .delete(
      "/me/logins/:id",
      async ({ request, params }) => {
        const id = params.id.toLowerCase();
        await ownLogins.end(actorOf(request), id);
        const response = noContent();
        if (id === principalOf(request).sessionId) {
          response.headers.append("set-cookie", expiredSessionCookie(baseUrl()));
        }
        return response;
      },
      {
        requires: "governance:read",
        accepts: "nothing",
        params: LoginPath,
        detail: described.endOwnLogin,
      },
    )
    .post(
      "/me/logins/revoke-others",
      async ({ request }) => {
        const { sessionId } = principalOf(request);
        invariant(sessionId !== null, "the guard lets browsers in only");
        return json(endedSummary(await ownLogins.endOthers(actorOf(request), sessionId)));
      },
      { requires: "session", accepts: "nothing", detail: described.endOtherLogins },
    )
    .post(
      "/me/password",
      async ({ request, body }) => {
        const { sessionId } = principalOf(request);
        invariant(sessionId !== null, "the guard lets browsers in only");
        const current = new Secret(body.current_password);
        const next = new Secret(body.new_password);
        const changed = await passwordChanges.change(actorOf(request), { current, next, sessionId });
        const response = json({ login_sessions_ended: changed.sessionsEnded });
        for (const cookie of Object.values(browser.cookiesOf(changed))) {
          response.headers.append("set-cookie", cookie);
        }
        return response;
      },
      { requires: "session", accepts: "json", body: PasswordChange, detail: described.changeOwnPassword },
    );
}

export function adminLoginRoutes({ router, domain }: RouteContext) {
  const { logins } = domain.access;

  return router
    .get("/admin/logins", ({ query }) => json(toLoginList(logins.list(readLoginQuery(query)), toLogin)), {
      requires: "administrator",
      query: AdminParameters,
      detail: described.listLogins,
    })
    .get("/admin/logins/:id", ({ params }) => json(toLogin(logins.show(params.id.toLowerCase()))), {
      requires: "administrator",
      params: LoginPath,
      detail: described.getLogin,
    })
    .post(
      "/admin/logins/:id/revoke",
      async ({ request, params }) => {
        await logins.revoke(actorOf(request), params.id.toLowerCase());
        return noContent();
      },
      { requires: "administrator", accepts: "nothing", params: LoginPath, detail: described.revokeLogin },
    )
    .post(
      "/admin/logins/revoke",
      async ({ request, body: { user_id: userId, all } }) => {
        if ((userId === undefined) === (all === undefined)) throw unclear();
        if (userId === undefined) await logins.revokeEverything(actorOf(request));
        else await domain.identity.users.revokeLogins(actorOf(request), userId.toLowerCase());
        return noContent();
      },
      { requires: "administrator", accepts: "json", body: Revocation, detail: described.revokeLogins },
    );
}

const unclear = () =>
  new DomainError("invalid", "logins.invalid", "send either user_id or all", {
    problems: [{ pointer: "", detail: "exactly one of user_id and all is required" }],
  });
