// The public keys of the provider (JWKS, RFC 7517). An unknown key is fetched immediately, because the first sign-in after a
// rotation must work; limits keep a flood of unknown keys from becoming a flood of requests. jose's own remote key set opens
// connections itself, which only platform/outbound may do, and openid-client waits a minute before it fetches keys again.
import {
  createLocalJWKSet,
  errors,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from "jose";
import { type Clock, HOUR_MS, SECOND_MS } from "../../../../platform/clock.ts";
import { isJsonObject } from "../../../../platform/json/json-object.ts";
import { isWithin, providerInvalid, type Remembered, throwRemembered } from "../failures.ts";
import { KnownHeaders } from "./known-headers.ts";

const KEYS_KEPT_MS = HOUR_MS;
/** Minimum time between two fetches for unknown keys. */
const UNKNOWN_KEY_PAUSE_MS = 10 * SECOND_MS;
export const KEYS_MAX = 100;

/** The accepted algorithms, whatever the provider offers. All are asymmetric. */
export const TOKEN_ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA"];

/** Reasons to fetch keys. Each has its own pause, so that unauthenticated callers cannot delay sign-ins with logout tokens. */
type Purpose = "sign_in" | "logout";

interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  headers: KnownHeaders;
  count: number;
  atMs: number;
}

export class ProviderKeys {
  #keys: KeySet | undefined;
  #loading: Promise<KeySet> | undefined;
  #failed: Remembered | undefined;
  readonly #askedAtMs: Partial<Record<Purpose, number>> = {};

  /** @param load fetches the document */
  constructor(
    private readonly clock: Clock,
    private readonly load: () => Promise<unknown>,
  ) {}

  /** undefined before the first keys */
  get ageMs(): number | undefined {
    return this.#keys && this.clock.nowMs() - this.#keys.atMs;
  }

  /**
   * Verifies the signature of a token and the claims that the options name.
   * @throws the errors of jose; DomainError `sso.provider_unreachable`, `sso.provider_invalid`
   */
  async verify(token: string, options: JWTVerifyOptions, purpose: Purpose): Promise<JWTVerifyResult> {
    const keys = await this.#current();
    const restricted = { ...options, algorithms: [...TOKEN_ALGORITHMS] };
    try {
      return await verifiedBy(keys, token, restricted);
    } catch (error) {
      if (!isUnknownKey(error)) throw error;
      return await verifiedBy(await this.#newerThan(keys, purpose), token, restricted);
    }
  }

  /** Fetches the keys now. @returns their number @throws like `verify`, without the errors of jose */
  async reload(): Promise<number> {
    this.#failed = undefined;
    return (await this.#fetched()).count;
  }

  async #current(): Promise<KeySet> {
    const isFresh = this.#keys && this.clock.nowMs() - this.#keys.atMs <= KEYS_KEPT_MS;
    return this.#keys && isFresh ? this.#keys : await this.#fetched();
  }

  /** @returns the same keys during the pause */
  async #newerThan(seen: KeySet, purpose: Purpose): Promise<KeySet> {
    if (this.#loading) return await this.#loading;
    if (this.#keys && this.#keys !== seen) return this.#keys;
    if (isWithin(UNKNOWN_KEY_PAUSE_MS, this.#askedAtMs[purpose], this.clock)) return seen;
    this.#askedAtMs[purpose] = this.clock.nowMs();
    return await this.#fetched();
  }

  async #fetched(): Promise<KeySet> {
    throwRemembered(this.#failed, this.clock);
    this.#loading ??= this.#fetchedAlone().finally(() => {
      this.#loading = undefined;
    });
    return await this.#loading;
  }

  async #fetchedAlone(): Promise<KeySet> {
    try {
      const document = await readKeySet(await this.load());
      const count = document.keys.length;
      const find = createLocalJWKSet(document);
      const found = { find, headers: new KnownHeaders(), count, atMs: this.clock.nowMs() };
      this.#failed = undefined;
      this.#keys = found;
      return found;
    } catch (error) {
      this.#failed = { error, atMs: this.clock.nowMs() };
      throw error;
    }
  }
}

/**
 * @returns the keys that can verify tokens; the others are ignored (RFC 7517 section 5)
 * @throws DomainError `sso.provider_invalid`
 */
async function readKeySet(document: unknown): Promise<JSONWebKeySet> {
  const keys: unknown = isJsonObject(document) ? document.keys : undefined;
  if (!Array.isArray(keys) || keys.length > KEYS_MAX || !keys.every(isKey))
    throw providerInvalid(`keys: the response is not a list of at most ${KEYS_MAX} keys`);
  const usable = await Promise.all(keys.map(isUsable));
  return { keys: keys.filter((_, index) => usable[index]) };
}

/** jose refuses shorter ones only when a token is verified, with an error that does not name the key (RFC 7518 section 3.3). */
const RSA_BITS_MIN = 2048;

/** Algorithms of keys that do not name one, by kind. */
const ALGORITHM_OF_KIND = new Map([
  ["RSA", "RS256"],
  ["EC", "ES256"],
  ["OKP", "EdDSA"],
]);

/** Otherwise an invalid key would fail in the library at the first token that names it. */
async function isUsable(key: JWK): Promise<boolean> {
  const algorithm = key.alg ?? ALGORITHM_OF_KIND.get(key.kty ?? "");
  if (algorithm === undefined || !TOKEN_ALGORITHMS.includes(algorithm)) return false;
  try {
    const imported = await importJWK(key, algorithm);
    if (imported instanceof Uint8Array || imported.type !== "public") return false;
    const { modulusLength = RSA_BITS_MIN } = { ...imported.algorithm };
    return modulusLength >= RSA_BITS_MIN;
  } catch {
    return false;
  }
}

const isKey = (value: unknown): value is { kty: string } =>
  isJsonObject(value) && typeof value.kty === "string";

/** Tries each key, because a token without `kid` may fit several (RFC 7517 section 4.5). */
async function verifiedBy(
  { find, headers }: KeySet,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  const known = headers.verified(token, options);
  if (known) return known;
  try {
    const verified = await jwtVerify(token, find, options);
    headers.remember(token, verified.protectedHeader, verified.key);
    return verified;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        const verified = await jwtVerify(token, key, options);
        headers.remember(token, verified.protectedHeader, key);
        return verified;
      } catch (failed) {
        if (!isUnknownKey(failed)) throw failed;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Includes a wrong signature, because a provider may replace a key without changing its id, or have keys without ids. */
const isUnknownKey = (error: unknown): boolean =>
  error instanceof errors.JOSEError &&
  (error.code === "ERR_JWKS_NO_MATCHING_KEY" || error.code === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED");
