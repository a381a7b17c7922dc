// The endpoint at which the identity provider announces that a session or a person was signed out (OpenID Connect Back-Channel Logout
// 1.0, sections 2.5 to 2.8).
import { Type } from "@sinclair/typebox";
import { countedAddress } from "../../../domain/access/budgets/counted-address.ts";
import { LOGOUT_PATH } from "../../../domain/sso/service.ts";
import { DomainError } from "../../../platform/errors.ts";
import { createRates, type RateLimit } from "../../../platform/rate-limit.ts";
import { unknownProvider } from "../../auth/provider-sign-in.ts";
import { exchangeOf, noteRefusal } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/** Limit on logouts from one address: a provider may sign out a whole company at the same time. */
export const LOGOUTS: RateLimit = { perSecond: 20, burst: 600 };

const LogoutForm = Type.Object(
  { logout_token: Type.Optional(Type.String()) },
  { additionalProperties: true },
);
const Refusal = Type.Object({ error: Type.Literal("invalid_request"), error_description: Type.String() });

export function providerLogoutRoutes({ router, domain, clock }: RouteContext) {
  const { sso } = domain;
  const rates = createRates(clock, LOGOUTS);

  return router.post(
    `${LOGOUT_PATH}/:providerId`,
    async ({ request, params, body }) => {
      const { requestId, address } = exchangeOf(request);
      const seconds = rates.take(countedAddress(address));
      if (seconds > 0) throw tooManyLogouts(seconds);
      if (sso.settings()?.providerId !== params.providerId) throw unknownProvider();
      const origin = { requestId, ...(address !== null && { address }) };
      try {
        await sso.logout.apply(await sso.provider.readLogoutToken(body.logout_token ?? ""), origin);
        return new Response(null, { status: 200, headers: NO_STORE });
      } catch (error) {
        if (!(error instanceof DomainError) || !FAULTS_OF_TOKENS.has(error.reason)) throw error;
        noteRefusal(request, error);
        const refusal = { error: "invalid_request", error_description: error.message };
        return json(refusal, { status: 400, headers: NO_STORE });
      }
    },
    {
      requires: "nobody",
      accepts: "form",
      params: Type.Object({ providerId: Type.String() }),
      body: LogoutForm,
      detail: operation(
        "announceLogout",
        "End the sessions that a logout token of the identity provider names",
        {
          tags: ["Browser session"],
          answers: {
            200: { description: "Ended, or unknown here" },
            400: { description: "The logout token is not accepted", schema: Refusal },
            429: { description: "Too many logouts" },
          },
        },
      ),
    },
  );
}

/** Reasons for a 400 response; the caller is not responsible for other failures. */
const FAULTS_OF_TOKENS: ReadonlySet<string> = new Set([
  "sso.token_invalid",
  "sso.token_issuer",
  "sso.clock",
  "sso.claims_invalid",
]);

const NO_STORE = { "cache-control": "no-store" };

const tooManyLogouts = (retryAfterSeconds: number) =>
  new DomainError("too_many", "access.too_many_attempts", "too many logouts from this network address", {
    retryAfterSeconds,
  });
