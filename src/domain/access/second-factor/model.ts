// Values and pure rules of the second factor: who needs one, the shape of codes, and the limits. second-factors.ts checks proofs;
// second-factor-store.ts has the rows.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import ipaddr from "ipaddr.js";
import { MINUTE_MS } from "../../../platform/clock.ts";
import { type Ids, sha256Hex } from "../../../platform/ids.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { Role } from "../../identity/service.ts";

/** `optional`: everyone may have a factor, and must then use it. `administrators`, `everyone`: these users must have one. */
export type SecondFactorMode = "off" | "optional" | "administrators" | "everyone";

/** The kind of proof of a factor. */
export const FACTOR_KINDS = ["authenticator_app", "passkey", "recovery_code"] as const;
export type FactorKind = (typeof FACTOR_KINDS)[number];

/** The next step of a sign-in after the right password. */
export type Demand = "nothing" | "proof" | "enrollment";

/** The proof of a factor, as a person typed it or a browser sent it. */
export type Proof =
  /** six digits of an authenticator app, or a recovery code; spaces and dashes are ignored */
  | { code: Secret }
  /** `PublicKeyCredential.toJSON()` as text */
  | { passkey: string };

/** How long a sign-in may wait for the second factor, and how long a passkey challenge or an authenticator app's QR code is valid. */
export const ATTEMPT_TTL_MS = 10 * MINUTE_MS;
/** How long a browser session counts as confirmed. */
export const CONFIRMATION_TTL_MS = 10 * MINUTE_MS;
/** Maximum number of one user's sign-ins that wait for the second factor; the oldest is dropped. */
export const ATTEMPTS_PER_USER_MAX = 10;
export const PASSKEYS_PER_USER_MAX = 10;
export const PASSKEY_NAME_LENGTH_MAX = 60;
/** Maximum characters of a browser's response to a passkey challenge. Real ones have about 1,000. */
export const PASSKEY_RESPONSE_LENGTH_MAX = 16_384;
const RECOVERY_CODES = 10;
/** Counters of wrong codes: for an account, and for one browser that has signed in to it before. */
export const CODE_GUESSES = { ofAccount: "second_factor.account", ofBrowser: "second_factor.browser" };
/** Longer input is rejected unread. */
export const TYPED_CODE_LENGTH_MAX = 64;

const APP_CODE = /^\d{6}$/;
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const GROUPS = 4;
const GROUP_LENGTH = 4;
const RECOVERY_CODE_LENGTH = GROUPS * GROUP_LENGTH;
const RECOVERY_CODE = new RegExp(`^[${ALPHABET}]{${RECOVERY_CODE_LENGTH}}$`);

/** The facts about a user that the rules need. */
interface Holder {
  role: Role;
  hasFactor: boolean;
}

/** @returns whether a user with this role must have a factor in this mode */
export const isRequired = (mode: SecondFactorMode, role: Role): boolean =>
  mode === "everyone" || (mode === "administrators" && role === "admin");

/** @returns what the sign-in of this user needs after the password */
export function demandOf(mode: SecondFactorMode, { role, hasFactor }: Holder): Demand {
  if (mode === "off") return "nothing";
  if (hasFactor) return "proof";
  return isRequired(mode, role) ? "enrollment" : "nothing";
}

/** @returns the typed code with its kind; undefined if it cannot be a code */
export function readCode(
  typed: Secret,
): { kind: "authenticator_app" | "recovery_code"; code: string } | undefined {
  if (typed.reveal().length > TYPED_CODE_LENGTH_MAX) return undefined;
  const code = typed.reveal().replace(/[\s-]/g, "").toUpperCase();
  if (APP_CODE.test(code)) return { kind: "authenticator_app", code };
  return RECOVERY_CODE.test(code) ? { kind: "recovery_code", code } : undefined;
}

/** @returns the claimed kind of a proof, for metrics; an unreadable code counts as an app's code */
export const kindOf = (proof: Proof): FactorKind =>
  "passkey" in proof ? "passkey" : (readCode(proof.code)?.kind ?? "authenticator_app");

/**
 * 256 is a multiple of the 32 letters, so the low bits of a byte choose one without bias.
 * @returns RECOVERY_CODES new codes of 80 bits, as `readCode` returns them
 */
export const createRecoveryCodes = (ids: Ids): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    [...ids.bytes(RECOVERY_CODE_LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join(""),
  );

/** @returns the code in groups, as people read it: four groups of four */
export const formatRecoveryCode = (code: string): string =>
  (code.match(new RegExp(`.{1,${GROUP_LENGTH}}`, "g")) ?? []).join("-");

/** @returns the hash under which a recovery code of this user is stored */
export const recoveryCodeHash = (userId: string, code: string): string =>
  sha256Hex(`recovery code\0${userId}\0${code}`);

/** The relying party of passkeys (W3C Web Authentication section 4). */
export interface RelyingParty {
  /** host name */
  id: string;
  origin: string;
}

/**
 * Browsers offer passkeys only to a secure context whose host has a name (W3C Web Authentication section 5.1.3).
 * @param baseUrl our origin
 * @returns undefined if passkeys cannot work
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  const isSecure = protocol === "https:" || isLocal;
  const isName = !ipaddr.isValid(hostname.replace(/^\[|\]$/g, ""));
  return isSecure && isName ? { id: hostname, origin } : undefined;
}

const Base64Url = Type.String({ pattern: "^[A-Za-z0-9_-]+$" });

/** Response of `navigator.credentials.create()`; other members are ignored. */
const CreatedPasskey = Type.Object({
  id: Base64Url,
  rawId: Base64Url,
  type: Type.Literal("public-key"),
  response: Type.Object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: Type.Optional(Type.Array(Type.String({ pattern: "^[a-z-]{1,20}$" }), { maxItems: 10 })),
  }),
});

/** Response of `navigator.credentials.get()`; other members are ignored. */
const UsedPasskey = Type.Object({
  id: Base64Url,
  rawId: Base64Url,
  type: Type.Literal("public-key"),
  response: Type.Object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
  }),
});

const readResponse = (text: string): unknown => {
  if (text.length > PASSKEY_RESPONSE_LENGTH_MAX) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // malformed text counts as a wrong response
  }
};

/** @returns undefined unless the text is a response of `navigator.credentials.create()` */
export function readCreatedPasskey(text: string): Static<typeof CreatedPasskey> | undefined {
  const response = readResponse(text);
  return Value.Check(CreatedPasskey, response) ? response : undefined;
}

/** @returns undefined unless the text is a response of `navigator.credentials.get()` */
export function readUsedPasskey(text: string): Static<typeof UsedPasskey> | undefined {
  const response = readResponse(text);
  return Value.Check(UsedPasskey, response) ? response : undefined;
}

/** @returns the name of a passkey, trimmed and shortened; a fallback if it is empty */
export const readPasskeyName = (name: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const trimmed = name.replace(/[\u0000-\u001f\u007f]/g, " ").trim();
  return trimmed.slice(0, PASSKEY_NAME_LENGTH_MAX).toWellFormed() || "Passkey";
};
