// Discovery documents and signing keys, prepared as bytes. domain/access/discovery.ts defines the documents.
import { Type } from "@sinclair/typebox";
import {
  authorizationServerMetadata,
  metaharnessDocument,
  openidProviderMetadata,
} from "../../../domain/access/discovery.ts";
import { ISSUER_PATH } from "../../../domain/access/wire.ts";
import {
  type PreparedResponse,
  preparedText,
  prepareResponse,
  respondConditionally,
} from "../../http/conditional.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const DOCUMENT_MAX_AGE_SECONDS = 300;
/** A rotated key is used immediately, so caches have to refresh soon. */
const KEYS_MAX_AGE_SECONDS = 60;

const describe = (operationId: string, summary: string) =>
  operation(operationId, summary, {
    tags: ["Discovery"],
    answers: {
      200: { description: "The document", schema: Type.Object({}) },
      304: { description: "Unchanged since the ETag in If-None-Match" },
    },
  });

/** @returns all discovery paths that clients try (RFC 8414 section 3.1) */
export function discoveryRoutes({ router, domain, baseUrl }: RouteContext) {
  const metaharness = whenAsked(() => metaharnessDocument(baseUrl()));
  const authorizationServer = whenAsked(() => authorizationServerMetadata(baseUrl()));
  const openidProvider = whenAsked(() => openidProviderMetadata(baseUrl()));
  const keys = preparedText(
    () => JSON.stringify(domain.access.keys.jwks()),
    cacheControl(KEYS_MAX_AGE_SECONDS),
  );
  const oauth = (suffix: string) => describe(`getAuthorizationServer${suffix}`, "RFC 8414 metadata");
  const openid = (suffix: string) => describe(`getOpenidProvider${suffix}`, "OpenID provider metadata");

  return router
    .get("/.well-known/metaharness", ({ request }) => respondConditionally(request, metaharness()), {
      requires: "nobody",
      detail: describe("getMetaharness", "Where a client signs in, and the scopes that it may request"),
    })
    .get(
      "/.well-known/oauth-authorization-server",
      ({ request }) => respondConditionally(request, authorizationServer()),
      { requires: "nobody", detail: oauth("AtRoot") },
    )
    .get(
      `/.well-known/oauth-authorization-server${ISSUER_PATH}`,
      ({ request }) => respondConditionally(request, authorizationServer()),
      { requires: "nobody", detail: oauth("OfIssuer") },
    )
    .get(
      `${ISSUER_PATH}/.well-known/openid-configuration`,
      ({ request }) => respondConditionally(request, openidProvider()),
      { requires: "nobody", detail: openid("BelowIssuer") },
    )
    .get(
      `/.well-known/openid-configuration${ISSUER_PATH}`,
      ({ request }) => respondConditionally(request, openidProvider()),
      { requires: "nobody", detail: openid("OfIssuer") },
    )
    .get(`${ISSUER_PATH}/jwks`, ({ request }) => respondConditionally(request, keys()), {
      requires: "nobody",
      detail: describe("getJwks", "Public keys that verify access tokens (RFC 7517)"),
    });
}

/**
 * Prepared at the first request, because the origin is known only once the listener has its port. It never changes
 * afterwards.
 */
function whenAsked(document: () => unknown): () => PreparedResponse {
  let prepared: PreparedResponse | undefined;
  return () => {
    prepared ??= prepareResponse(
      Buffer.from(JSON.stringify(document())),
      cacheControl(DOCUMENT_MAX_AGE_SECONDS),
    );
    return prepared;
  };
}

const cacheControl = (maxAgeSeconds: number) => ({
  contentType: "application/json",
  cacheControl: `public, max-age=${maxAgeSeconds}`,
});
