// API for the keys of the service: those that sign tokens and those that seal secrets. No response contains a key.
import { Type } from "@sinclair/typebox";
import type { Domain } from "../../../domain/domain.ts";
import { gatewayOff } from "../../../domain/gateway/service.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import {
  KeyList,
  SealingKey,
  SIGNED_TOKENS,
  type SignedTokens,
  SigningKey,
  sealingKeyDocument,
  signingKeyDocument,
  type TokenKey,
} from "../../../domain/system/key-document.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const KeyPath = Type.Object({
  kind: Type.Union([...SIGNED_TOKENS, "sealing" as const].map((kind) => Type.Literal(kind))),
});
const describe = operationsOf("Administration");
const described = {
  list: describe("listServiceKeys", "Keys that sign tokens and keys that seal secrets", {
    200: { description: "All keys, without their bytes", schema: KeyList },
  }),
  rotate: describe("rotateServiceKey", "Make a new key of a kind; older tokens and secrets stay valid", {
    200: { description: "The new key", schema: Type.Union([SigningKey, SealingKey]) },
    409: {
      description: "Gateway mode is off, or the sealing key is missing or comes from the configuration",
    },
  }),
};

export function serviceKeyRoutes({ router, domain }: RouteContext) {
  return router
    .get("/admin/keys", () => json(listKeys(domain)), { requires: "administrator", detail: described.list })
    .post(
      "/admin/keys/:kind/rotate",
      async ({ request, params: { kind } }) => {
        const actor = actorOf(request);
        if (kind === "sealing") return json(sealingKeyDocument(await domain.sealingKeys.rotate(actor)));
        return json(signingKeyDocument(await rotateTokenKey(domain, { actor, signs: kind })));
      },
      { requires: "administrator", accepts: "nothing", params: KeyPath, detail: described.rotate },
    );
}

const ringOf = ({ access, inference }: Domain, signs: SignedTokens) =>
  signs === "access_tokens" ? access.keys : inference.signingKeys;

/** @returns the keys that sign these tokens; undefined if the service signs none */
export const tokenKeysOf = (domain: Domain, signs: SignedTokens): TokenKey[] | undefined =>
  ringOf(domain, signs)
    ?.list()
    .map((key) => ({ ...key, signs }));

const listKeys = (domain: Domain) => ({
  signing_keys: SIGNED_TOKENS.flatMap((signs) => (tokenKeysOf(domain, signs) ?? []).map(signingKeyDocument)),
  sealing_keys: domain.sealingKeys.list().map(sealingKeyDocument),
});

interface TokenKeyRotation {
  actor: Actor;
  signs: SignedTokens;
  /** id of the key that the caller saw in use; if another key is in use, no key is created */
  replaces?: string | undefined;
}

/** @throws DomainError `gateway.off`, and the errors of a rotation */
export async function rotateTokenKey(
  domain: Domain,
  { actor, signs, replaces }: TokenKeyRotation,
): Promise<TokenKey> {
  const ring = ringOf(domain, signs);
  if (!ring) throw gatewayOff();
  return { ...(await ring.rotate(actor, replaces)), signs };
}
