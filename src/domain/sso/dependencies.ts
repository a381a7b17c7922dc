// What company sign-in needs from other areas, supplied by domain.ts.
import type { Tx } from "../../platform/database/database.ts";

/** Ends every login of a user, in the transaction of the change that requires it; access provides it. */
export type EndLogins = (tx: Tx, ending: { userId: string; reason: string; nowMs: number }) => void;

/** The browser sessions that a provider ended: one of its own sessions, or every session of a user. */
export type EndedAtProvider = { issuer: string; providerSessionId: string } | { userId: string };

/**
 * Ends browser sessions and the device logins that they are deciding, and the grants too if asked; access provides it.
 * @returns how many sessions and grants were open
 */
export type EndProviderSessions = (
  tx: Tx,
  ending: EndedAtProvider & { endsGrants: boolean; reason: string; nowMs: number },
) => { loginSessions: number; grants: number };
