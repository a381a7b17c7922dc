// Formats wire values (scopes, roles, times, counts) for people.

// A Map, because an object would find inherited properties for scopes with their names.
const scopeSentences: ReadonlyMap<string, string> = new Map([
  ["openid", "Know which account you signed in with"],
  ["profile", "See your name"],
  ["email", "See your email address"],
  ["offline_access", "Stay signed in until you sign out or access is revoked"],
  ["governance:read", "Read your policy, fetch packages and use your gateway key"],
  ["session:write", "Upload coding sessions for you"],
  ["client-status:write", "Report the state of your workstation"],
]);

const roleNames: ReadonlyMap<string, string> = new Map([
  ["admin", "Administrator"],
  ["member", "Member"],
]);

/** Created at the first use, because it takes 5 % of the start time. */
let utcTime: Intl.DateTimeFormat | undefined;

/** @returns an error message (lower case, no period) as a sentence */
export const asSentence = (message: string): string =>
  `${capitalized(message)}${/[.!?]$/.test(message) ? "" : "."}`;

/** An ordinary word, which may be capitalized. Everything else is a name: an address, a URL, a setting, a member or a version. */
const WORD = /^\p{L}[\p{L}'’-]*[,;:]?(?:\s|$)/u;

/** @returns the text with a capital letter, unless it begins with a name */
export const capitalized = (text: string): string =>
  WORD.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;

/** @returns what the scope allows; for an unknown scope its quoted name */
export const scopeText = (scope: string): string =>
  scopeSentences.get(scope) ?? `Use the permission “${scope}”`;

const CODE_GROUP_LENGTH = 4;

/**
 * @param userCode eight characters
 * @returns two groups, which are easier to compare: `DZFR-FBEK`
 */
export const formatUserCode = (userCode: string): string =>
  `${userCode.slice(0, CODE_GROUP_LENGTH)}-${userCode.slice(CODE_GROUP_LENGTH)}`;

/** @returns the role's display name; the role itself if unknown */
export const roleText = (role: string): string => roleNames.get(role) ?? role;

/**
 * @param time RFC 3339
 * @returns for example `21 November 2026 at 11:51 UTC`; the text itself if it is not a time
 */
export function timeText(time: string): string {
  const date = new Date(time);
  utcTime ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  return Number.isNaN(date.getTime()) ? time : `${utcTime.format(date)} UTC`;
}

const number = new Intl.NumberFormat("en-GB");

/** @returns for example `1 browser` or `1,204 browsers` */
export const countText = (count: number, noun: string): string =>
  `${number.format(count)} ${noun}${count === 1 ? "" : "s"}`;
