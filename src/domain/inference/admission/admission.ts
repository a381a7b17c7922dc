// Decides whether an inference request may go to the upstream, with the cheapest checks first. Nothing about access is cached:
// session, login, user and key are read for every request, so a request after the end of access is refused. The caller first
// checks path and method, and afterwards the model.
import type { Clock } from "../../../platform/clock.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import { CLOCK_TOLERANCE_SECONDS, TOKEN_LENGTH_MAX } from "../../../platform/crypto/signing.ts";
import type { Db } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import { createBuckets, createRates, type Rates } from "../../../platform/rate-limit.ts";
import type { Secret } from "../../../platform/secret.ts";
import { countedAddress } from "../../access/service.ts";
import type { GatewayKeys, Resolve, ResolvedKey } from "../../gateway/service.ts";
import type { Identity } from "../../identity/service.ts";
import type { Budgets } from "../log/record.ts";
import type { ProxySettings } from "../settings.ts";
import { Permits } from "./permits.ts";
import { type InferenceClaims, TokenVerifier, type TokenVerifierOptions } from "./token-verifier.ts";

/** Buckets of tokens, gateway sessions and addresses together; the least recently used one is evicted first. */
const BUCKETS_MAX = 100_000;

const LEEWAY_MS = CLOCK_TOLERANCE_SECONDS * SECOND_MS;

export interface Admitted {
  readonly userId: string;
  readonly organizationId: string;
  readonly gatewaySessionId: string;
  readonly loginSessionId: string;
  readonly grantId: string;
  /** UTC milliseconds; the earlier end of token and login, plus the leeway, after which a stream is cut */
  readonly endsAtMs: number;
  /** the user's gateway key; only the upstream receives it */
  readonly credential: Secret;
  readonly credentialVersion: string;
  /** external id and alias of the key at the upstream */
  readonly profileId: string | null;
  readonly profileName: string | null;
  /** Releases the permits after the last byte of the response, or when the request ends without one. Idempotent. */
  release(): void;
}

/** Reasons for a refusal, in the order of the checks. */
export type AdmissionReason =
  | "inference.busy"
  | "inference.no_token"
  | "inference.too_many"
  | "inference.bad_token"
  | "inference.session_revoked"
  | "inference.login_ended"
  | "inference.user_inactive"
  | "inference.key_recovering"
  | "inference.key_missing"
  | "inference.too_large"
  | "inference.tiny_chunks"
  | "inference.user_parallel"
  | "inference.budget";

export interface Refused {
  readonly refused: AdmissionReason;
  readonly retryAfterSeconds?: number;
  /** claims of a valid token; its refusal is logged */
  readonly claims?: InferenceClaims;
  /** known once the key was found */
  readonly key?: Pick<ResolvedKey, "externalId" | "alias">;
}

/** The facts about a request that the checks need. */
export interface Applicant {
  /** undefined without a credential */
  token: string | undefined;
  /** returns the client's address; null over a local socket. Called only for refused tokens */
  address(): string | null;
  /** undefined for a body of unknown length */
  declaredBytes: number | undefined;
}

export interface AdmissionOptions extends Omit<TokenVerifierOptions, "clock"> {
  clock: Clock;
  db: Pick<Db, "read">;
  settings: Pick<
    ProxySettings,
    "maxInFlight" | "maxBodyBytes" | "tokenRate" | "tokenBurst" | "failuresPerAddress" | "parallelPerUser"
  >;
  identity: Pick<Identity, "findUserById">;
  resolve: Resolve;
  gatewayKeys: Pick<GatewayKeys, "recover">;
  budgets: Budgets;
}

export class Admission {
  readonly permits: Permits;
  readonly #verifier: TokenVerifier;
  /** by token and by gateway session */
  readonly #requests: Rates;
  /** refused tokens by address */
  readonly #failures: Rates;

  constructor(private readonly options: AdmissionOptions) {
    const { clock, settings } = options;
    const buckets = createBuckets(BUCKETS_MAX);
    const { tokenRate, tokenBurst, failuresPerAddress } = settings;
    this.permits = new Permits({
      inFlightMax: settings.maxInFlight,
      perUserMax: settings.parallelPerUser,
    });
    this.#verifier = new TokenVerifier(options);
    this.#requests = createRates(clock, { perSecond: tokenRate, burst: tokenBurst }, buckets);
    this.#failures = createRates(
      clock,
      { perSecond: failuresPerAddress, burst: failuresPerAddress },
      buckets,
    );
  }

  /** @returns the admission, which holds permits until it is released, or the first reason for a refusal */
  admit(applicant: Applicant): Admitted | Refused {
    if (!this.permits.take()) return { refused: "inference.busy" };
    let outcome: Admitted | Refused | undefined;
    try {
      outcome = this.#decide(applicant);
      return outcome;
    } finally {
      if (!outcome || "refused" in outcome) this.permits.release();
    }
  }

  #decide(applicant: Applicant): Admitted | Refused {
    const claims = this.#identify(applicant);
    if ("refused" in claims) return claims;
    const wait = this.#requests.take(claims.bucket);
    if (wait > 0) return { refused: "inference.too_many", retryAfterSeconds: wait };
    const resolved = this.#resolve(claims);
    if ("refused" in resolved) return resolved;
    const reason = this.#limit(applicant, claims);
    if (reason) return { ...reason, claims, key: resolved };
    return admissionOf(claims, resolved, this.permits);
  }

  #identify(applicant: Applicant): InferenceClaims | Refused {
    const { token } = applicant;
    if (token === undefined) return { refused: "inference.no_token" };
    if (token.length > TOKEN_LENGTH_MAX) return this.#refuseToken(applicant);
    const digest = sha256Hex(token);
    const known = this.#verifier.known(digest);
    if (known) return known; // the session has the same limit, so its bucket is never fuller than the token's
    const wait = this.#requests.take(`token ${digest}`);
    if (wait > 0) return { refused: "inference.too_many", retryAfterSeconds: wait };
    return this.#verifier.verify(token, digest) ?? this.#refuseToken(applicant);
  }

  #refuseToken(applicant: Applicant): Refused {
    const wait = this.#failures.take(`address ${countedAddress(applicant.address())}`);
    return wait > 0
      ? { refused: "inference.too_many", retryAfterSeconds: wait }
      : { refused: "inference.bad_token" };
  }

  #resolve(claims: InferenceClaims): ResolvedKey | Refused {
    try {
      return this.options.resolve(claims);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const refused = REFUSALS[error.reason] ?? this.#keyRefusal(error, claims);
      return { refused, claims };
    }
  }

  #keyRefusal(error: DomainError, { userId }: InferenceClaims): AdmissionReason {
    if (error.kind === "unavailable") return "inference.key_recovering"; // the resolver has started an attempt
    if (error.kind !== "conflict") throw error;
    const { db, identity, gatewayKeys } = this.options;
    const user = identity.findUserById(db.read, userId);
    return user && gatewayKeys.recover(user) ? "inference.key_recovering" : "inference.key_missing";
  }

  #limit({ declaredBytes = 0 }: Applicant, { userId }: InferenceClaims): Refused | undefined {
    const { settings, budgets } = this.options;
    if (declaredBytes > settings.maxBodyBytes) return { refused: "inference.too_large" };
    if (!this.permits.takeForUser(userId)) return { refused: "inference.user_parallel" };
    if (!budgets.exceeded(userId)) return undefined;
    this.permits.releaseForUser(userId);
    return { refused: "inference.budget", retryAfterSeconds: budgets.retryAfterSeconds() };
  }
}

/** Reasons of the resolver about session, login and user. */
const REFUSALS: Readonly<Record<string, AdmissionReason>> = {
  "gateway.session_unknown": "inference.session_revoked",
  "gateway.session_revoked": "inference.session_revoked",
  "gateway.login_ended": "inference.login_ended",
  "gateway.user_inactive": "inference.user_inactive",
};

function admissionOf(claims: InferenceClaims, key: ResolvedKey, permits: Permits): Admitted {
  const { userId } = key;
  let isHeld = true;
  return {
    userId,
    organizationId: key.organizationId,
    gatewaySessionId: key.gatewaySessionId,
    loginSessionId: key.loginSessionId,
    grantId: key.grantId,
    endsAtMs: Math.min(claims.expiresAtMs, key.sessionExpiresAtMs) + LEEWAY_MS,
    credential: key.credential,
    credentialVersion: key.credentialVersion,
    profileId: key.externalId,
    profileName: key.alias,
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      permits.releaseForUser(userId);
      permits.release();
    },
  };
}
