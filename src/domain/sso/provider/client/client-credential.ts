// How this service authenticates to the provider (OpenID Connect Core 1.0 section 9). An administrator registers the public half of
// a client key at the provider.
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, importPKCS8, type JWK } from "jose";
import type { ClientAuth } from "openid-client";
import { DomainError } from "../../../../platform/errors.ts";
import type { Secret } from "../../../../platform/secret.ts";
import type { ClientCredential } from "../../settings.ts";

type OpenIdClient = typeof import("openid-client");

const CURVE = "prime256v1";
const RSA_BITS_MIN = 2048;

/** Algorithms of client assertions, by kind of key; the first one that the provider accepts is used. */
function algorithmsOf(key: KeyObject): readonly string[] {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "ed25519") return ["EdDSA"];
  if (type === "ec" && details?.namedCurve === CURVE) return ["ES256"];
  if (type === "rsa" && (details?.modulusLength ?? 0) >= RSA_BITS_MIN) return ["RS256", "PS256"];
  return [];
}

/** @throws DomainError `sso.client_key` unless it is a usable private key */
function readClientKey(pem: Secret): { key: KeyObject; algorithms: readonly string[] } {
  try {
    const key = createPrivateKey(pem.reveal());
    const algorithms = algorithmsOf(key);
    if (algorithms.length > 0) return { key, algorithms };
  } catch {
    // The library's error is dropped, because it may repeat the text.
  }
  throw new DomainError(
    "invalid",
    "sso.client_key",
    `must be a private key in PEM: Ed25519, P-256, or RSA of at least ${RSA_BITS_MIN} bits`,
  );
}

/** @returns the public half of a client key, in the form to register @throws DomainError `sso.client_key` */
export async function publicClientKey(pem: Secret): Promise<JWK> {
  const { key, algorithms } = readClientKey(pem);
  const jwk = await exportJWK(createPublicKey(key));
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: algorithms[0] ?? "", use: "sig" };
}

/** @returns why the text is not a usable client key */
export function clientKeyProblem(pem: Secret): string | undefined {
  try {
    readClientKey(pem);
    return undefined;
  } catch (error) {
    return error instanceof DomainError ? error.message : "cannot be read";
  }
}

/**
 * @param accepted the provider's algorithms for client assertions; undefined if it states none
 * @throws DomainError `sso.client_key`
 */
export async function clientAuthentication(
  openid: OpenIdClient,
  credential: ClientCredential,
  accepted: readonly string[] | undefined,
): Promise<ClientAuth> {
  switch (credential.method) {
    case "client_secret_basic":
      return openid.ClientSecretBasic(credential.secret.reveal());
    case "client_secret_post":
      return openid.ClientSecretPost(credential.secret.reveal());
    case "private_key_jwt":
      return await byPrivateKey(openid, credential.key, accepted);
  }
}

async function byPrivateKey(
  openid: OpenIdClient,
  pem: Secret,
  accepted: readonly string[] | undefined,
): Promise<ClientAuth> {
  const { key, algorithms } = readClientKey(pem);
  const alg = algorithms.find((algorithm) => accepted?.includes(algorithm)) ?? algorithms[0] ?? "";
  const { kid = "" } = await publicClientKey(pem);
  const cryptoKey = await importPKCS8(key.export({ type: "pkcs8", format: "pem" }).toString(), alg);
  return openid.PrivateKeyJwt(
    { key: cryptoKey, kid },
    {
      // The library writes `Ed25519`, the name of RFC 9864, which providers do not know yet.
      [openid.modifyAssertion]: (header) => {
        header.alg = alg;
      },
    },
  );
}
