// Inference tokens for workstations, and the public keys with which the inference proxy verifies them. gateway.ts has
// the gateway keys, gateway-proxy.ts the proxy's own operations.
import { Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { DomainError, invariant } from "../../../platform/errors.ts";
import { preparedText, respondConditionally } from "../../http/conditional.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { noContent, noStore } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/**
 * A rotated key is used immediately, so caches have to refresh soon. If the service does not answer, caches may serve
 * an old key set.
 */
const KEYS_CACHE_CONTROL = "public, max-age=60, stale-if-error=86400";

const InferenceTokenResponse = Type.Object({
  token: Type.String({ description: "JWT for the inference proxy" }),
  expires_at: Type.String({ format: "date-time" }),
  proxy_url: Type.String({ format: "uri" }),
});

const describe = operationsOf("Gateway");

export function inferenceRoutes({ router, domain }: RouteContext) {
  const { tokens } = domain.inference;
  const jwks = preparedText(() => JSON.stringify(publicKeys(domain)), {
    contentType: "application/json",
    cacheControl: KEYS_CACHE_CONTROL,
  });

  return router
    .get("/gateway/jwks", ({ request }) => respondConditionally(request, jwks()), {
      requires: "nobody",
      detail: describe("getGatewayJwks", "Public keys that verify inference tokens (RFC 7517)", {
        200: { description: "The keys", schema: Type.Object({ keys: Type.Array(Type.Object({})) }) },
        304: { description: "Unchanged since the ETag in If-None-Match" },
        404: { description: "Gateway mode is off" },
      }),
    })
    .post(
      "/gateway/session/revoke",
      async ({ request }) => {
        await tokens.revokeSession(actorOf(request), workstationOf(request));
        return noContent();
      },
      {
        requires: "workstation",
        accepts: "nothing",
        detail: describe("revokeGatewaySession", "End the inference tokens of the caller's login", {
          204: { description: "All of them have ended" },
        }),
      },
    )
    .post(
      "/gateway/token",
      async ({ request }) => {
        const { token, expiresAtMs, proxyUrl } = await tokens.mint(workstationOf(request));
        return noStore({ token, expires_at: toRfc3339(expiresAtMs), proxy_url: proxyUrl });
      },
      {
        requires: "workstation",
        accepts: "nothing",
        detail: describe("createInferenceToken", "A new inference token for the caller's workstation", {
          200: { description: "The token", schema: InferenceTokenResponse },
          409: { description: "Gateway mode is off" },
          503: { description: "Temporarily unavailable" },
        }),
      },
    );
}

function workstationOf(request: Request) {
  const { userId, grantId, sid } = principalOf(request);
  invariant(grantId !== null && sid !== null, "the guard lets only workstations through");
  return { userId, grantId, loginSessionId: sid };
}

function publicKeys({ inference }: RouteContext["domain"]) {
  if (inference.signingKeys) return inference.signingKeys.jwks();
  throw new DomainError("not_found", "gateway.off", "gateway mode is off");
}
