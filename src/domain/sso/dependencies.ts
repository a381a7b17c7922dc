// What company sign-in needs from other areas, supplied by domain.ts.
import type { Tx } from "../../platform/database/database.ts";
import type { SsoReason } from "./model.ts";
import type { ProviderRequest } from "./provider/provider-requests.ts";

/** Ends every login of a user, in the transaction of the change that requires it; access provides it. */
export type EndLogins = (tx: Tx, ending: { userId: string; reason: string; nowMs: number }) => void;

/** Selects browser sessions that a provider ended: its own sessions, or every session of a user. */
export type EndedAtProvider =
  /** with a user, also the user's sessions without a provider session */
  | { issuer: string; providerSessionId: string; userId: string | undefined }
  | { userId: string; issuer?: undefined };

/**
 * Ends browser sessions and the device logins that they are deciding, and on request the grants; access provides it.
 * @returns how many sessions and grants were open
 */
export type EndProviderSessions = (
  tx: Tx,
  ending: EndedAtProvider & { endsGrants: boolean; reason: string; nowMs: number },
) => { loginSessions: number; grants: number };

/** How a sign-in ended: the label of its metric. */
export type SignInOutcome = "signed_in" | SsoReason;

/** Receives events, for metrics and the log. */
export interface SsoObserver {
  /** after each request to the provider */
  requested(request: ProviderRequest): void;
  /** after each sign-in, and after each refused start of one */
  ended(outcome: SignInOutcome): void;
}
