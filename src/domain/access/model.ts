// The state machine of the device login (RFC 8628), its codes, and the limits of logins. Only pure rules:
// device-logins-store.ts stores rows, device-logins.ts and grants.ts authorize, refresh-token.ts defines refresh tokens.
import { DAY_MS, MINUTE_MS } from "../../platform/clock.ts";
import { sha256Hex } from "../../platform/ids.ts";

/** The stored states. `expired` is not stored: the clock decides it. */
export const STORED_STATES = ["pending", "approved", "refused", "redeemed"] as const;
export type StoredState = (typeof STORED_STATES)[number];
export type DeviceLoginState = StoredState | "expired";

/** The response to a poll (RFC 8628 section 3.5). */
type PollResponse = "tokens" | "authorization_pending" | "access_denied" | "expired_token" | "invalid_grant";

/** `claim`: the first signed-in user who opens the login binds it. `redeem`: the workstation receives its tokens. */
export type DeviceLoginEvent = "claim" | "approve" | "refuse" | "redeem";

interface StateRule {
  poll: PollResponse;
  /** next state per allowed event; any other event is rejected */
  on: Partial<Record<DeviceLoginEvent, StoredState>>;
}

/** The whole state machine; code and tests are derived from this table (RFC 8628 section 3.5). */
export const DEVICE_LOGIN: Readonly<Record<DeviceLoginState, StateRule>> = {
  pending: {
    poll: "authorization_pending",
    on: { claim: "pending", approve: "approved", refuse: "refused" },
  },
  approved: { poll: "tokens", on: { redeem: "redeemed" } },
  refused: { poll: "access_denied", on: {} },
  expired: { poll: "expired_token", on: {} },
  redeemed: { poll: "invalid_grant", on: {} },
};

export interface Transition {
  from: StoredState;
  to: StoredState;
}

/** @returns the only transition of an event; a conditional update writes it */
export function transitionOf(event: DeviceLoginEvent): Transition {
  for (const from of STORED_STATES) {
    const to = DEVICE_LOGIN[from].on[event];
    if (to) return { from, to };
  }
  throw new Error(`no state of a device login allows ${event}`);
}

/** @returns the current state of a row; a redeemed code stays redeemed */
export function stateAt(row: { state: StoredState; expiresAtMs: number }, nowMs: number): DeviceLoginState {
  return row.state !== "redeemed" && nowMs >= row.expiresAtMs ? "expired" : row.state;
}

/** Maximum number of stored device logins without a decision. It bounds the disk space that unauthenticated callers can use. */
export const DEVICE_LOGINS_PENDING_MAX = 100_000;
/** Maximum number of user codes to draw until one is free; even a second draw is rare. */
export const USER_CODE_DRAWS_MAX = 5;

export const LOGINS_PER_PAGE_MAX = 100;

/** How long an expired device login answers `expired_token` instead of `invalid_grant`. */
export const DEVICE_LOGIN_KEPT_MS = 10 * MINUTE_MS;
/** How long ended grants and login sessions stay visible to operators. */
export const ENDED_LOGIN_KEPT_MS = DAY_MS;
/** Number of rows of one kind that one sweep transaction removes. Grants with their tokens take up to 10 ms. */
export const SWEEP_BATCH_ROWS = 250;

const USER_CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
export const USER_CODE_LENGTH = 8;
const USER_CODE = new RegExp(`^[${USER_CODE_ALPHABET}]{${USER_CODE_LENGTH}}$`);
/** Longer input is rejected unread: it cannot be eight characters in any spelling. */
export const TYPED_CODE_LENGTH_MAX = 64;
const LINK_TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * The code is derived from the link, so that only hashes are stored and the approval page can still show it. 256 is a multiple of
 * the 32 letters, so the low bits of a byte choose one without bias.
 * @returns eight letters and digits that do not appear in the link
 */
export function userCodeOf(linkToken: string): string {
  const digest = sha256Hex(`user-code\0${linkToken}`);
  let code = "";
  for (let at = 0; at < USER_CODE_LENGTH; at += 1) {
    const byte = Number.parseInt(digest.slice(2 * at, 2 * at + 2), 16);
    code += USER_CODE_ALPHABET.charAt(byte % USER_CODE_ALPHABET.length);
  }
  return code;
}

/**
 * @param typed letters in any case; spaces and dashes are ignored
 * @returns undefined if it cannot be a user code
 */
export function readUserCode(typed: string): string | undefined {
  if (typed.length > TYPED_CODE_LENGTH_MAX) return undefined;
  const code = typed.replace(/[\s-]/g, "").toUpperCase();
  return USER_CODE.test(code) ? code : undefined;
}

const DEVICE_CODE = /^([0-9a-f-]{36})\.[A-Za-z0-9_-]{43}$/;

/** @returns the code with which a workstation polls; the id selects the row, and the secret proves possession */
export const deviceCodeOf = (id: string, secret: string): string => `${id}.${secret}`;

/** @returns the id of the device login; undefined if it cannot be a device code */
export const deviceLoginIdIn = (deviceCode: string): string | undefined => DEVICE_CODE.exec(deviceCode)?.[1];

export const isLinkToken = (text: string): boolean => LINK_TOKEN.test(text);
