// Verifies inference tokens: RS256, signed with a key of the ring, for this proxy, with the claims that a lookup needs. Verified
// claims are cached by the digest of their token, because checking the signature takes most of the time. The login behind the token
// is read for every request (admission.ts).
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import { isExpired, type VerifiedToken, verifyToken } from "../../../platform/crypto/signing.ts";
import { DomainError } from "../../../platform/errors.ts";
import { UUID_PATTERN } from "../../../platform/ids.ts";
import { growingCache } from "../../../platform/memory/growing-cache.ts";
import { GATEWAY_SESSION_CLAIM, INFERENCE_SCOPE, SESSION_CLAIM } from "../../gateway/service.ts";
import type { SigningKeyRing } from "../../shared/signing-keys/signing-key-ring.ts";

/** Maximum number of cached tokens, about 500 bytes each. */
const KNOWN_TOKENS_MAX = 100_000;

/** `typ` of an inference token. */
const TOKEN_TYPE = "JWT";

/** The claims of a verified token. */
export interface InferenceClaims {
  userId: string;
  gatewaySessionId: string;
  loginSessionId: string;
  /** UTC milliseconds; equals `exp` */
  expiresAtMs: number;
  /** key of the session's bucket, built once */
  bucket: string;
}

interface Known extends InferenceClaims {
  /** id of the key that signed it */
  kid: string;
}

export interface TokenVerifierOptions {
  clock: Clock;
  keys: Pick<SigningKeyRing, "find">;
  issuer: string;
  audience: string;
}

export class TokenVerifier {
  readonly #known = growingCache<Known>(KNOWN_TOKENS_MAX);

  constructor(private readonly options: TokenVerifierOptions) {}

  /** @returns the number of tokens whose claims are cached */
  get size(): number {
    return this.#known.size;
  }

  /** @returns the claims of an already verified, still valid token */
  known(digest: string): InferenceClaims | undefined {
    const known = this.#known.get(digest);
    if (!known || this.#stillVerifies(known)) return known;
    this.#known.delete(digest);
    return undefined;
  }

  /**
   * @param digest of the token
   * @returns its claims; undefined for an invalid token
   */
  verify(token: string, digest: string): InferenceClaims | undefined {
    const fresh = this.#read(token);
    if (fresh) this.#known.set(digest, fresh);
    return fresh;
  }

  /** The ring reads its keys again when they change, so a token of a removed key is refused immediately. */
  #stillVerifies({ kid, expiresAtMs }: Known): boolean {
    const { clock, keys } = this.options;
    return !isExpired(expiresAtMs, clock.nowMs()) && keys.find(kid) !== undefined;
  }

  #read(token: string): Known | undefined {
    const { clock, keys, issuer, audience } = this.options;
    try {
      return claimsOf(
        verifyToken(token, {
          findKey: (kid) => keys.find(kid),
          issuer,
          audience,
          typ: TOKEN_TYPE,
          nowMs: clock.nowMs(),
        }),
      );
    } catch (error) {
      if (error instanceof DomainError && error.kind === "unauthenticated") return undefined;
      throw error;
    }
  }
}

function claimsOf({ payload, kid }: VerifiedToken): Known | undefined {
  const { sub, exp, scope } = payload;
  const { [SESSION_CLAIM]: loginSessionId, [GATEWAY_SESSION_CLAIM]: gatewaySessionId } = payload;
  if (!isUuid(sub) || !isUuid(loginSessionId) || !isUuid(gatewaySessionId)) return undefined;
  if (typeof scope !== "string" || !scope.split(" ").includes(INFERENCE_SCOPE)) return undefined;
  if (exp === undefined) return undefined;
  return {
    userId: sub,
    gatewaySessionId,
    loginSessionId,
    expiresAtMs: exp * SECOND_MS,
    bucket: `session ${gatewaySessionId}`,
    kid,
  };
}

const isUuid = (value: unknown): value is string => typeof value === "string" && UUID_PATTERN.test(value);
