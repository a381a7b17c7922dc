// The values that a browser must bring back from the provider, sealed in one cookie, so that nothing is stored for unauthenticated
// callers. Several tabs may sign in at the same time, so the cookie holds several attempts. Each is used once, and only while the
// provider stays the same; otherwise the code of one provider would be sent to another (RFC 9700 section 4.4).
import { type Static, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type Clock, MINUTE_MS } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { DomainError } from "../../../platform/errors.ts";
import { stateUnknown } from "../errors.ts";
import type { Attempt } from "../provider/client/oidc-client.ts";
import type { CurrentSsoSettings } from "../settings.ts";

export const PROVIDER_ATTEMPT_TTL_MS = 10 * MINUTE_MS;
/** The newest attempt replaces the oldest one. */
export const ATTEMPTS_MAX = 5;
/** Browsers keep cookies of at least 4,096 bytes with name and attributes (RFC 6265 section 6.1). */
export const SEALED_LENGTH_MAX = 3_500;
/** A longer return path is dropped, and the sign-in ends on the start page. */
export const CALLBACK_LENGTH_MAX = 512;

const AttemptSchema = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  forcedAtMs: Type.Optional(Type.Integer()),
  /** a path of ours */
  callbackURL: Type.Optional(Type.String()),
  startedMs: Type.Integer(),
});
const AttemptsSchema = Type.Array(AttemptSchema);

/** Compiled at the first sign-in, so that commands start faster. */
let compiledAttempts: TypeCheck<typeof AttemptsSchema> | undefined;

function areAttempts(value: unknown): value is Static<typeof AttemptsSchema> {
  compiledAttempts ??= TypeCompiler.Compile(AttemptsSchema);
  return compiledAttempts.Check(value);
}

export interface StartedAttempt extends Attempt {
  callbackURL?: string;
  startedMs: number;
}

export class SignInAttempts {
  constructor(
    private readonly dependencies: {
      clock: Clock;
      sealing: Pick<Sealing, "seal" | "open">;
      settings: CurrentSsoSettings;
      /** called when a callback has no attempt, for metrics */
      ended?: (outcome: "sso.state") => void;
    },
  ) {}

  /**
   * @param sealed value of the browser's cookie, if it has one
   * @returns the value of the new cookie
   */
  add(sealed: string | undefined, attempt: Attempt, callbackURL: string | undefined): string {
    const returnPath =
      callbackURL !== undefined && callbackURL.length <= CALLBACK_LENGTH_MAX ? { callbackURL } : {};
    const started: StartedAttempt = { ...attempt, ...returnPath, startedMs: this.dependencies.clock.nowMs() };
    return this.#seal([...this.#open(sealed), started].slice(-ATTEMPTS_MAX));
  }

  /** @returns whether the browser has this attempt */
  has(sealed: string | undefined, state: string | null): boolean {
    return this.#open(sealed).some((attempt) => attempt.state === state);
  }

  /**
   * Removes an attempt from the cookie, because each is used once.
   * @returns the attempt, and the cookie value without it, which is undefined if none is left
   * @throws DomainError `sso.state` if this browser has no such attempt
   */
  take(
    sealed: string | undefined,
    state: string | null,
  ): { attempt: StartedAttempt; rest: string | undefined } {
    const attempts = this.#open(sealed);
    const attempt = attempts.find((candidate) => candidate.state === state);
    if (!attempt) {
      this.dependencies.ended?.("sso.state");
      throw stateUnknown();
    }
    const others = attempts.filter((candidate) => candidate !== attempt);
    return { attempt, rest: others.length === 0 ? undefined : this.#seal(others) };
  }

  #seal(attempts: readonly StartedAttempt[]): string {
    const sealed = this.dependencies.sealing.seal(JSON.stringify(attempts), this.#context);
    return sealed.length > SEALED_LENGTH_MAX ? this.#seal(attempts.slice(1)) : sealed;
  }

  /** @returns the attempts that have not expired; none for a foreign cookie */
  #open(sealed: string | undefined): readonly StartedAttempt[] {
    const attempts = openSealed(this.dependencies.sealing, sealed, this.#context);
    if (!areAttempts(attempts)) return [];
    const nowMs = this.dependencies.clock.nowMs();
    return attempts.filter(({ startedMs }) => nowMs - startedMs < PROVIDER_ATTEMPT_TTL_MS);
  }

  get #context(): string {
    return `sign-in attempts, ${this.dependencies.settings()?.issuer}`;
  }
}

/** @returns the value that was sealed for this context; undefined if it was not */
export function openSealed(
  sealing: Pick<Sealing, "open">,
  sealed: string | undefined,
  context: string,
): unknown {
  if (sealed === undefined) return undefined;
  try {
    return JSON.parse(sealing.open(sealed, context));
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
