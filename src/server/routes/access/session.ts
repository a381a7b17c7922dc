// JSON routes of the browser session: sign in, read, sign out. account-pages.ts has the HTML pages.
import { type Static, Type } from "@sinclair/typebox";
import { TYPED_CODE_LENGTH_MAX } from "../../../domain/access/second-factor/model.ts";
import type { LoginSessionRow } from "../../../domain/access/sign-in/login-sessions.ts";
import { ISSUER_PATH } from "../../../domain/access/wire.ts";
import { EMAIL_LENGTH_MAX } from "../../../domain/identity/model.ts";
import type { User } from "../../../domain/identity/service.ts";
import { PASSWORD_LENGTH_MAX } from "../../../domain/identity/users/passwords.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import { Secret } from "../../../platform/secret.ts";
import { createBrowser } from "../../auth/browser.ts";
import { expiredSessionCookie } from "../../auth/cookies.ts";
import { refuseForeignOrigin } from "../../auth/guard.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { counted } from "../../metrics/factor-metrics.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const SignIn = Type.Object(
  {
    email: Type.String({ maxLength: EMAIL_LENGTH_MAX }),
    password: Type.String({ maxLength: PASSWORD_LENGTH_MAX }),
    code: Type.Optional(
      Type.String({
        maxLength: TYPED_CODE_LENGTH_MAX,
        description:
          "Second factor of an account that has one: the code of the authenticator app, or a recovery code",
      }),
    ),
    rememberMe: Type.Optional(
      Type.Boolean({ description: "Has no effect: all sessions have the same lifetime" }),
    ),
    callbackURL: Type.Optional(
      Type.String({ description: "Has no effect: the caller decides where to go next" }),
    ),
  },
  { additionalProperties: true }, // ignores unknown members for newer clients, as all routes below the issuer do
);
const Email = Type.Object({ email: Type.String({ maxLength: EMAIL_LENGTH_MAX }) });

const LoginMethod = Type.Union([
  Type.Object({ method: Type.Literal("password") }),
  Type.Object({ method: Type.Literal("oidc"), providerId: Type.String(), providerName: Type.String() }),
]);

const Time = Type.String({ format: "date-time" });
const SessionUser = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  emailVerified: Type.Boolean(),
  organizationId: Type.String(),
  governanceRole: Type.String(),
  createdAt: Time,
  updatedAt: Time,
});
const SignedIn = Type.Object({ redirect: Type.Literal(false), token: Type.String(), user: SessionUser });
const Session = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  token: Type.String(),
  expiresAt: Time,
  createdAt: Time,
  updatedAt: Time,
});
const Success = Type.Object({ success: Type.Literal(true) });

const documented = operationsOf("Browser session");
const described = {
  signIn: documented("signIn", "Opens a login session and sets its cookie", {
    200: { description: "Signed in", schema: SignedIn },
    401: { description: "E-mail or password is wrong, or the account cannot sign in" },
    403: {
      description:
        "`access.second_factor_needed`: send `code` too. `access.second_factor_wrong`: `code` is wrong or was used before. `access.second_factor_enrollment_needed`: sign in on the page /login first",
    },
    429: { description: "Too many attempts" },
  }),
  signOut: documented("signOut", "Ends the login session of the cookie", {
    200: { description: "Signed out, now or earlier", schema: Success },
  }),
  getSession: documented("getSession", "The login session of the cookie", {
    200: {
      description: "Session and user, or null",
      schema: Type.Union([Type.Object({ session: Session, user: SessionUser }), Type.Null()]),
    },
  }),
  getLoginMethod: documented(
    "getLoginMethod",
    "How a user with this address signs in; the same for every address",
    {
      200: { description: "The method", schema: LoginMethod },
    },
  ),
};

/** @returns the session routes below the issuer, and the login methods */
export function sessionRoutes(context: RouteContext) {
  const { router, domain, baseUrl, countFactor } = context;
  const { sessions } = domain.access;
  const browser = createBrowser(context);
  /** The mode alone decides, so that the response reveals nothing about an address. */
  const loginMethod = (): Static<typeof LoginMethod> => {
    const { identityMode, provider } = domain.access.settings;
    if (identityMode === "password") return { method: "password" };
    const { providerId, providerName } = domain.sso.settings() ?? provider;
    return { method: "oidc", providerId, providerName };
  };

  return router
    .post(
      `${ISSUER_PATH}/sign-in/email`,
      async ({ request, body }) => {
        refuseForeignOrigin(request, baseUrl());
        const code = body.code === undefined ? undefined : new Secret(body.code);
        const credential = { email: body.email, password: new Secret(body.password), code };
        const signingIn = browser.signIn(request, credential);
        const { session, user, cookie } = await counted(signingIn, code && { code }, countFactor);
        const response = { redirect: false, token: session.token, user: toSessionUser(user) } as const;
        return json(response satisfies Static<typeof SignedIn>, { headers: { "set-cookie": cookie } });
      },
      { requires: "nobody", accepts: "json", body: SignIn, detail: described.signIn },
    )
    .post(
      `${ISSUER_PATH}/sign-out`,
      async ({ request }) => {
        refuseForeignOrigin(request, baseUrl());
        const visitor = browser.visitor(request);
        if (visitor) await sessions.end(visitor.sessionToken, actorOf(request));
        return json({ success: true }, { headers: { "set-cookie": expiredSessionCookie(baseUrl()) } });
      },
      { requires: "nobody", accepts: "nothing", detail: described.signOut },
    )
    .get(
      `${ISSUER_PATH}/get-session`,
      ({ request }) => {
        const visitor = browser.visitor(request);
        const session = visitor && sessions.find(visitor.sessionToken);
        if (!visitor || !session) return json(null);
        const { userId, organizationId, expiresAtMs } = visitor.principal;
        const user = domain.identity.users.show(organizationId, userId);
        const view = toSession({ ...session, expiresAtMs }, visitor.sessionToken);
        return json({ session: view, user: toSessionUser(user) });
      },
      { requires: "nobody", detail: described.getSession },
    )
    .post("/api/login-method", () => json(loginMethod()), {
      requires: "nobody",
      accepts: "json",
      body: Email,
      detail: described.getLoginMethod,
    });
}

const toSession = (session: LoginSessionRow, token: string): Static<typeof Session> => ({
  id: session.id,
  userId: session.userId,
  token,
  expiresAt: toRfc3339(session.expiresAtMs),
  createdAt: toRfc3339(session.createdAtMs),
  updatedAt: toRfc3339(session.renewedAtMs),
});

/** Administrators enter the addresses, so they count as verified. The email also serves as the name. */
const toSessionUser = (user: User): Static<typeof SessionUser> => ({
  id: user.id,
  email: user.email,
  name: user.email,
  emailVerified: true,
  organizationId: user.organizationId,
  governanceRole: user.role,
  createdAt: toRfc3339(user.createdAtMs),
  updatedAt: toRfc3339(user.updatedAtMs),
});
