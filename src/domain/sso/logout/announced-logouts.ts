// Remembers for a few minutes whom the provider signed out, so that a sign-in in progress at that time does not open a session. The
// memory does not survive a restart; after one, only the provider's next announcement ends such a session.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import { growingCache } from "../../../platform/memory/growing-cache.ts";
import { PROVIDER_ATTEMPT_TTL_MS } from "../browser/attempts.ts";
import type { Person } from "../model.ts";

/** Maximum number of remembered logouts, more than one address can announce in that time. The oldest is dropped first. */
export const ANNOUNCED_MAX = 20_000;

/** The parts of a verified logout token that identify a sign-in. */
export interface Announcement {
  issuer: string;
  subject?: string | undefined;
  providerSessionId?: string | undefined;
  /** by the provider's clock, in whole seconds */
  issuedAtMs: number;
}

interface Announced {
  issuedAtMs: number;
  /** by our clock */
  atMs: number;
}

type Named = Pick<Person, "issuer" | "subject" | "providerSessionId" | "authTimeMs">;

export class AnnouncedLogouts {
  readonly #announced = growingCache<Announced>(ANNOUNCED_MAX);

  constructor(private readonly clock: Clock) {}

  add({ issuer, subject, providerSessionId, issuedAtMs }: Announcement): void {
    const announced = { issuedAtMs, atMs: this.clock.nowMs() };
    const note = (name: Name, value: string) => this.#announced.set(keyOf(name, issuer, value), announced);
    if (providerSessionId !== undefined) note("session", providerSessionId);
    if (subject !== undefined) note(providerSessionId === undefined ? "person" : "unnamed", subject);
  }

  /**
   * @param startedMs when the browser left for the provider, by our clock; used if the provider states no time of the log-on
   * @returns whether the provider signed this person out after that
   */
  has({ issuer, subject, providerSessionId, authTimeMs }: Named, startedMs: number): boolean {
    const names =
      providerSessionId === undefined
        ? [keyOf("person", issuer, subject), keyOf("unnamed", issuer, subject)]
        : [keyOf("person", issuer, subject), keyOf("session", issuer, providerSessionId)];
    return names.some((name) => {
      const announced = this.#announced.get(name);
      if (!announced || this.clock.nowMs() - announced.atMs >= PROVIDER_ATTEMPT_TTL_MS) return false;
      const isTold = authTimeMs !== undefined && secondOf(authTimeMs) !== secondOf(announced.issuedAtMs);
      return isTold ? authTimeMs < announced.issuedAtMs : startedMs < announced.atMs;
    });
  }
}

/** `person`: all sessions; `unnamed`: sessions without a provider session */
type Name = "session" | "person" | "unnamed";

const keyOf = (name: Name, issuer: string, value: string): string => JSON.stringify([name, issuer, value]);

const secondOf = (atMs: number): number => Math.floor(atMs / SECOND_MS);
