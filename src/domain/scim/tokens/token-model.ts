// What a SCIM token is: how it looks, what may be asked for when one is made, when it counts, and what is shown of it. Making
// and revoking is in tokens.ts, checking what is presented in token-check.ts.
import { DAY_MS } from "../../../platform/clock.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { SCIM_PROFILES, type ScimProfile } from "../model.ts";
import type { TokenRow } from "../tables.ts";

/** What every token of ours begins with, so that scanners and people know it when they see it. */
export const TOKEN_MARK = "qms_";
/** Characters that lists show, mark included; they take 6 bytes of the random ones. */
export const VISIBLE_LENGTH = 12;
/** Random bytes of a token: 32 stay when those that are shown are taken away (SCIM-4). */
export const TOKEN_BYTES = 38;
/** A longer value is refused before anything is computed of it (SCIM-5). */
export const PRESENTED_LENGTH_MAX = 1024;
export const LABEL_LENGTH_MAX = 64;
export const EXPIRY_DAYS_MAX = 3650;
/** newest tokens that a list has; older ones still work */
export const TOKENS_LISTED_MAX = 1_000;

/** Id and label of the token that stands in the configuration. */
export const CONFIGURED = "configured";

export interface NewScimToken {
  /** names the token in lists, logs and the audit log */
  label: string;
  /** never when left out */
  expiresAtMs?: number | undefined;
  /** `standard` or `entra`; another word is refused by name */
  profile: string;
}

/** A token without anything that could be presented. */
export interface ScimTokenView {
  /** `configured` for the token of the configuration */
  id: string;
  label: string;
  /** first characters; null for the token of the configuration */
  prefix: string | null;
  profile: ScimProfile;
  /** `unset`: the token of the configuration was used once, and is not in the configuration read now */
  state: "active" | "expired" | "revoked" | "unset";
  createdBy: string;
  createdAtMs: number | null;
  expiresAtMs: number | null;
  /** to the minute */
  lastUsedAtMs: number | null;
  revokedAtMs: number | null;
}

const LABEL = new RegExp(`^[\\p{L}\\p{N}][\\p{L}\\p{N} ._-]{0,${LABEL_LENGTH_MAX - 1}}$`, "u");

/**
 * Checks what was asked for.
 * @throws DomainError `scim_token.invalid` naming everything that is wrong
 */
export function readNewToken(
  asked: NewScimToken,
  nowMs: number,
): { label: string; profile: ScimProfile; expiresAtMs: number | null } {
  const problems: Problem[] = [];
  const label = asked.label.trim();
  const { expiresAtMs = null } = asked;
  const profile = SCIM_PROFILES.find((known) => known === asked.profile);
  if (!LABEL.test(label) || label === CONFIGURED) problems.push({ pointer: "/label", detail: LABEL_RULE });
  if (expiresAtMs !== null && !isWithin(expiresAtMs - nowMs, EXPIRY_DAYS_MAX * DAY_MS))
    problems.push({ pointer: "/expires_at", detail: EXPIRY_RULE });
  if (profile === undefined)
    problems.push({ pointer: "/profile", detail: `must be ${SCIM_PROFILES.join(" or ")}` });
  if (profile === undefined || problems.length > 0) throw invalidToken(problems);
  return { label, profile, expiresAtMs };
}

const LABEL_RULE = `must be 1 to ${LABEL_LENGTH_MAX} letters, digits, spaces, dots, dashes or underscores, begin with a letter or digit, and not be ${CONFIGURED}`;
const EXPIRY_RULE = `must be a time to come, at most ${EXPIRY_DAYS_MAX} days from now`;

const isWithin = (distanceMs: number, maxMs: number): boolean => distanceMs > 0 && distanceMs <= maxMs;

const invalidToken = (problems: readonly Problem[]): DomainError => {
  const message = problems.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join("; ");
  return new DomainError("invalid", "scim_token.invalid", message, { problems });
};

/** Valid until the last millisecond before it expires. */
export const isLive = ({ expiresAtMs }: Pick<TokenRow, "expiresAtMs">, nowMs: number): boolean =>
  expiresAtMs === null || nowMs < expiresAtMs;

/** @returns what is shown of a token that was made */
export const viewOf = (row: TokenRow, nowMs: number): ScimTokenView => {
  const { tokenHash: _, organizationId: __, ...shown } = row;
  const state = row.revokedAtMs !== null ? "revoked" : isLive(row, nowMs) ? "active" : "expired";
  return { ...shown, state };
};

/** @returns what is shown of the token of the configuration; `row` remembers its last use */
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
