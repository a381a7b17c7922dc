// Rules for SCIM tokens: their format, the options for a new one, their validity, and their shown parts. tokens.ts creates and
// revokes them, token-check.ts authenticates them.
import { DAY_MS } from "../../../platform/clock.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { SCIM_PROFILES, type ScimProfile } from "../model.ts";
import type { TokenRow } from "../tables.ts";

/** Prefix of every token, by which scanners and people recognize it. */
export const TOKEN_MARK = "qms_";
/** Number of characters that lists show, including the prefix and 6 of the random bytes. */
export const VISIBLE_LENGTH = 12;
/** Random bytes of a token: 32 remain without the shown ones (SCIM-4). */
export const TOKEN_BYTES = 38;
/** A longer value is refused before it is hashed (SCIM-5). */
export const PRESENTED_LENGTH_MAX = 1024;
export const LABEL_LENGTH_MAX = 64;
export const EXPIRY_DAYS_MAX = 3650;
/** maximum number of tokens in a list, newest first; older ones still work */
export const TOKENS_LISTED_MAX = 1_000;

/** Id and label of the configured token. */
export const CONFIGURED = "configured";

export interface NewScimToken {
  /** names the token in lists, logs and the audit log */
  label: string;
  /** never by default */
  expiresAtMs?: number | undefined;
  /** instead of `expiresAtMs`: counted from the creation, so that a repeated request is the same */
  expiresAfterDays?: number | undefined;
  /** `standard` or `entra`; errors name any other word */
  profile: string;
  /** a request repeated with the same key returns the same token */
  idempotencyKey?: string | undefined;
}

/** The checked options of a token to create. */
export interface CheckedToken {
  label: string;
  profile: ScimProfile;
  /** null for never */
  expiresAtMs: number | null;
}

/** A token without its secret. */
export interface ScimTokenView {
  /** `configured` for the configured token */
  id: string;
  label: string;
  /** first characters; null for the configured token */
  prefix: string | null;
  profile: ScimProfile;
  /** `unset`: a configured token was used, but the current configuration has none */
  state: "active" | "expired" | "revoked" | "unset";
  createdBy: string;
  createdAtMs: number | null;
  expiresAtMs: number | null;
  /** up to a minute before the actual last use */
  lastUsedAtMs: number | null;
  revokedAtMs: number | null;
}

const LABEL = new RegExp(`^[\\p{L}\\p{N}][\\p{L}\\p{N} ._-]{0,${LABEL_LENGTH_MAX - 1}}$`, "u");

/**
 * Checks the options.
 * @throws DomainError `scim_token.invalid` with all problems
 */
export function readNewToken(request: NewScimToken, nowMs: number): CheckedToken {
  const problems: Problem[] = [];
  const label = request.label.trim();
  const { expiresAfterDays: days } = request;
  const expiresAtMs = days === undefined ? (request.expiresAtMs ?? null) : nowMs + days * DAY_MS;
  const profile = SCIM_PROFILES.find((known) => known === request.profile);
  if (!LABEL.test(label) || label === CONFIGURED) problems.push({ pointer: "/label", detail: LABEL_RULE });
  if (expiresAtMs !== null && !isWithin(expiresAtMs - nowMs, EXPIRY_DAYS_MAX * DAY_MS))
    problems.push({ pointer: "/expires_at", detail: EXPIRY_RULE });
  if (profile === undefined)
    problems.push({ pointer: "/profile", detail: `must be ${SCIM_PROFILES.join(" or ")}` });
  if (profile === undefined || problems.length > 0) throw invalidToken(problems);
  return { label, profile, expiresAtMs };
}

const LABEL_RULE = `must be 1 to ${LABEL_LENGTH_MAX} letters, digits, spaces, dots, dashes or underscores, begin with a letter or digit, and not be ${CONFIGURED}`;
const EXPIRY_RULE = `must be a future time, at most ${EXPIRY_DAYS_MAX} days from now`;

const isWithin = (distanceMs: number, maxMs: number): boolean => distanceMs > 0 && distanceMs <= maxMs;

const invalidToken = (problems: readonly Problem[]): DomainError => {
  const message = problems.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join("; ");
  return new DomainError("invalid", "scim_token.invalid", message, { problems });
};

/** Valid until the last millisecond before it expires. */
export const isLive = ({ expiresAtMs }: Pick<TokenRow, "expiresAtMs">, nowMs: number): boolean =>
  expiresAtMs === null || nowMs < expiresAtMs;

/** @returns the shown parts of a created token */
export const viewOf = (row: TokenRow, nowMs: number): ScimTokenView => {
  const { tokenHash: _, organizationId: __, ...shown } = row;
  const state = row.revokedAtMs !== null ? "revoked" : isLive(row, nowMs) ? "active" : "expired";
  return { ...shown, state };
};

/** @returns the shown parts of the configured token; `row` has its last use */
export const configuredView = (row: TokenRow | undefined, isSet: boolean): ScimTokenView => ({
  id: CONFIGURED,
  label: CONFIGURED,
  prefix: null,
  profile: "standard",
  state: isSet ? "active" : "unset",
  createdBy: "configuration",
  createdAtMs: null,
  expiresAtMs: null,
  lastUsedAtMs: row?.lastUsedAtMs ?? null,
  revokedAtMs: null,
});
