// Records the outcome of the last request to each repository connection, so that administrators and operators see which one
// fails and since when. Errors about one repository, such as an unknown branch, count as success.
import { type Clock, MINUTE_MS } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { findState, putState } from "./connection-state-store.ts";

export interface ConnectionState {
  status: "ok" | "unverified" | "failing";
  /** stable reason of the failure; undefined if it works */
  reason?: string;
  /** UTC milliseconds; undefined before the first request */
  sinceMs?: number;
}

/** How long an unchanged state is not written again. */
const WRITTEN_EVERY_MS = MINUTE_MS;
const FAILING = new Set(
  [
    ...["credential_refused", "host_down", "too_slow", "tls_untrusted", "key_unusable", "bad_answer"],
    ...["proxy_credential_refused", "proxy_refused"],
  ].map((what) => `source.${what}`),
);

/** @returns the reason of an error that means a failing connection; undefined if it concerns one repository */
export const failingReason = (error: unknown): string | undefined =>
  error instanceof DomainError && FAILING.has(error.reason) ? error.reason : undefined;

export class ConnectionStates {
  constructor(private readonly dependencies: { db: Db; clock: Clock }) {}

  of(organizationId: string, connectionId: string): ConnectionState {
    const row = findState(this.dependencies.db.read, organizationId, connectionId);
    if (!row) return { status: "unverified" };
    const { reason, sinceMs } = row;
    return reason === null ? { status: "ok", sinceMs } : { status: "failing", reason, sinceMs };
  }

  /** @param error error of the request; undefined if it succeeded */
  async note(organizationId: string, connectionId: string, error?: unknown): Promise<void> {
    const { db, clock } = this.dependencies;
    const reason = failingReason(error) ?? null;
    const askedAtMs = clock.nowMs();
    const former = findState(db.read, organizationId, connectionId);
    const isSame = former !== undefined && former.reason === reason;
    if (isSame && askedAtMs - former.askedAtMs < WRITTEN_EVERY_MS) return;
    const sinceMs = isSame ? former.sinceMs : askedAtMs;
    const state = { organizationId, connectionId, reason, sinceMs, askedAtMs };
    await db.write((tx) => putState(tx, state), "unobserved");
  }
}
