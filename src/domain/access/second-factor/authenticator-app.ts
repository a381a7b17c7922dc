// Time-based one-time passwords (RFC 6238) with the parameters that every authenticator app supports: SHA-1, six digits, steps of
// 30 seconds. otpauth computes and compares the codes; second-factors.ts makes each count once.
import { Secret as OtpSecret, TOTP } from "otpauth";
import type { Ids } from "../../../platform/ids.ts";
import { Secret } from "../../../platform/secret.ts";

const STEP_SECONDS = 30;
const DIGITS = 6;
/** RFC 4226 section 4 recommends 160 bits. */
const SECRET_BYTES = 20;
/**
 * Number of steps before and after the current one whose codes are accepted, because device clocks differ (RFC 6238 section
 * 5.2).
 */
const STEPS_TOLERATED = 1;

/** @returns a new secret in base32, as people type it into an app */
export const createAppSecret = (ids: Ids): Secret =>
  new Secret(new OtpSecret({ buffer: new Uint8Array(ids.bytes(SECRET_BYTES)).buffer }).base32);

const totpOf = (secret: Secret): TOTP =>
  new TOTP({
    secret: OtpSecret.fromBase32(secret.reveal()),
    algorithm: "SHA1",
    digits: DIGITS,
    period: STEP_SECONDS,
  });

/**
 * @param code six digits
 * @returns the step of the code, counted from 1970; undefined if the code is wrong
 */
export function stepOf(secret: Secret, code: string, nowMs: number): number | undefined {
  const totp = totpOf(secret);
  const delta = totp.validate({ token: code, timestamp: nowMs, window: STEPS_TOLERATED });
  return delta === null ? undefined : totp.counter({ timestamp: nowMs }) + delta;
}

/**
 * @param label name of the organization and e-mail address of the user, which the app shows
 * @returns the URL in the QR code: `otpauth://totp/…`
 */
export function appUri(secret: Secret, label: { issuer: string; account: string }): Secret {
  const totp = totpOf(secret);
  totp.issuer = label.issuer.replaceAll(":", " ");
  totp.label = label.account;
  return new Secret(totp.toString());
}
