// Endpoints of the OAuth device grant (RFC 8628), token issuance (RFC 6749) and revocation (RFC 7009). This file only
// extracts fields; the access area validates them, and oauth-problem.ts formats every refusal.
import { type Static, Type } from "@sinclair/typebox";
import { AUTHORIZATION_PATH, ENDPOINT_PATHS } from "../../../domain/access/discovery.ts";
import { OAuthError } from "../../../domain/access/errors.ts";
import type { Access, Caller, TokenResponse } from "../../../domain/access/service.ts";
import { DEVICE_CODE_GRANT, ISSUER_PATH, REFRESH_GRANT } from "../../../domain/access/wire.ts";
import { refuseForeignOrigin } from "../../auth/guard.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { oauthProblemResponse } from "../../http/problems/oauth-problem.ts";
import { noStore } from "../../http/responses.ts";
import { createTokenMetrics } from "../../metrics/token-metrics.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

// Every field is optional and unknown ones are ignored (RFC 6749 section 3.2). No form can fail these schemas, so every error
// keeps the OAuth format.
const Field = Type.Optional(Type.String());
const Resource = Type.Optional(
  Type.Union([Type.String(), Type.Array(Type.String())], { description: "May be given more than once" }),
);
const open = { additionalProperties: true };
const DeviceCodeForm = Type.Object({ client_id: Field, scope: Field, resource: Resource }, open);
const TokenForm = Type.Object(
  {
    grant_type: Field,
    client_id: Field,
    device_code: Field,
    refresh_token: Field,
    resource: Resource,
    scope: Field,
  },
  open,
);
const RevocationForm = Type.Object({ token: Field, token_type_hint: Field, client_id: Field }, open);

const DeviceCodeResponse = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer(),
  interval: Type.Integer(),
});
const TokenResponseSchema = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Integer(),
  expires_at: Type.Integer(),
  refresh_token: Field,
  scope: Type.String(),
});
const documented = operationsOf("OAuth");
const describe = (operationId: string, summary: string, schema = Type.Object({})) =>
  documented(operationId, summary, {
    200: { description: "Done", schema },
    401: { description: "The OAuth client is unknown" },
    403: { description: "A page of another site sent the cookie of a browser" },
  });

/** @returns the OAuth endpoints */
export function oauthRoutes({ router, domain, baseUrl, metrics }: RouteContext) {
  const { deviceLogins, grants } = domain.access;
  const countTokens = createTokenMetrics(metrics);

  router
    .post(
      `${ISSUER_PATH}${ENDPOINT_PATHS.deviceAuthorization}`,
      async ({ request, body }) => {
        refuseForeignBrowser(request, baseUrl());
        const { scope, resource } = body;
        const { address } = exchangeOf(request);
        const clientId = clientOf(request, body);
        const login = await deviceLogins.request({ clientId, scope, resource, address });
        const page = `${baseUrl()}/device`;
        return noStore({
          device_code: login.deviceCode,
          user_code: login.userCode,
          verification_uri: page,
          verification_uri_complete: `${page}/${login.linkToken}`,
          expires_in: login.expiresInSeconds,
          interval: login.intervalSeconds,
        } satisfies Static<typeof DeviceCodeResponse>);
      },
      {
        requires: "nobody",
        accepts: "form",
        body: DeviceCodeForm,
        detail: describe("requestDeviceLogin", "Begin a device login (RFC 8628)", DeviceCodeResponse),
      },
    )
    .post(
      `${ISSUER_PATH}${ENDPOINT_PATHS.token}`,
      async ({ request, body }) => {
        refuseForeignBrowser(request, baseUrl());
        try {
          const response = await grantTokens(grants, request, body);
          countTokens(body.grant_type);
          return noStore(response);
        } catch (error) {
          return pollProblem(error, request);
        }
      },
      {
        requires: "nobody",
        accepts: "form",
        body: TokenForm,
        detail: describe("requestToken", "Redeem a device login or refresh a grant", TokenResponseSchema),
      },
    );
  revocationRoutes({ router, domain, baseUrl });
  refusedRoutes(router);
}

const revocationRoutes = ({ router, domain, baseUrl }: Pick<RouteContext, "router" | "domain" | "baseUrl">) =>
  router.post(
    `${ISSUER_PATH}${ENDPOINT_PATHS.revocation}`,
    async ({ request, body }) => {
      refuseForeignBrowser(request, baseUrl());
      const clientId = clientOf(request, body);
      await domain.access.grants.revoke({ token: body.token, clientId, caller: callerOf(request) });
      return noStore({});
    },
    {
      requires: "nobody",
      accepts: "form",
      body: RevocationForm,
      detail: describe("revokeToken", "End the grant of a refresh token (RFC 7009)"),
    },
  );

/** @returns endpoints of unsupported grants, which explain the refusal */
const refusedRoutes = (router: RouteContext["router"]) =>
  router
    .get(`${ISSUER_PATH}${AUTHORIZATION_PATH}`, refuseAuthorizationRequest, {
      requires: "nobody",
      detail: documented("requestAuthorization", "Refused: sign in by device authorization", {
        400: { description: "Always" },
      }),
    })
    .post(`${ISSUER_PATH}/device/token`, refuseSessionGrant, {
      requires: "nobody",
      accepts: "nothing",
      detail: documented("requestSessionByDeviceCode", "Refused: redeem device codes at the token endpoint", {
        400: { description: "Always" },
      }),
    });

/**
 * Most polls end with `authorization_pending`, which is not a failure. The framework's error handling would double the cost
 * of a poll.
 */
function pollProblem(error: unknown, request: Request): Response {
  if (!(error instanceof OAuthError)) throw error;
  return oauthProblemResponse(error, { request, path: `${ISSUER_PATH}${ENDPOINT_PATHS.token}` });
}

/** @throws OAuthError `invalid_request`, `unsupported_grant_type`, and the errors of redeem and refresh */
function grantTokens(
  grants: Access["grants"],
  request: Request,
  fields: Static<typeof TokenForm>,
): Promise<TokenResponse> {
  const { grant_type, resource, scope } = fields;
  const shared = { clientId: clientOf(request, fields), resource, caller: callerOf(request) };
  if (grant_type === DEVICE_CODE_GRANT) return grants.redeem({ ...shared, deviceCode: fields.device_code });
  if (grant_type === REFRESH_GRANT) {
    return grants.refresh({ ...shared, refreshToken: fields.refresh_token, scope });
  }
  if (grant_type === undefined)
    throw new OAuthError("invalid_request", "the parameter grant_type is missing");
  throw new OAuthError(
    "unsupported_grant_type",
    `this grant is not offered; use ${DEVICE_CODE_GRANT} or ${REFRESH_GRANT}`,
  );
}

/**
 * @returns the client id in the form; the only OAuth client is public, so there is nothing to authenticate
 * @throws OAuthError `invalid_client` if only the Authorization header names a client
 * @source RFC 6749 sections 2.3.1 and 5.2
 */
function clientOf(request: Request, { client_id }: { client_id?: string }): string | undefined {
  if (client_id || !request.headers.has("authorization")) return client_id;
  throw new OAuthError("invalid_client", "clients do not authenticate here; send client_id in the form");
}

/** A device code cannot be exchanged for a browser session. */
function refuseSessionGrant(): never {
  throw new OAuthError(
    "invalid_grant",
    `redeem this device code at ${ISSUER_PATH}${ENDPOINT_PATHS.token} with the grant ${DEVICE_CODE_GRANT}`,
  );
}

/**
 * OpenID Connect Discovery 1.0 section 3 requires an authorization endpoint. This server supports no authorization requests.
 */
function refuseAuthorizationRequest(): never {
  throw new OAuthError(
    "unsupported_response_type",
    `no response type is offered; begin a device login at ${ISSUER_PATH}${ENDPOINT_PATHS.deviceAuthorization}`,
  );
}

/** Only requests with cookies come from a browser; without cookies there is no CSRF risk. */
function refuseForeignBrowser(request: Request, baseUrl: string): void {
  if (request.headers.has("cookie")) refuseForeignOrigin(request, baseUrl);
}

/** Looks up the address lazily: most polls record nothing. */
function callerOf(request: Request): Caller {
  const exchange = exchangeOf(request);
  return {
    requestId: exchange.requestId,
    get address() {
      return exchange.address ?? undefined;
    },
  };
}
