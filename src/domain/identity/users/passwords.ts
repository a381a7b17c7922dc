// New passwords: their allowed length, and their generation. The platform hashes passwords.

import type { Problem } from "../../../platform/errors.ts";
import type { Ids } from "../../../platform/ids.ts";
import { randomToken } from "../../../platform/ids.ts";
import { Secret } from "../../../platform/secret.ts";

export const PASSWORD_LENGTH_MIN = 12;
export const PASSWORD_LENGTH_MAX = 256;
const GENERATED_PASSWORD_BYTES = 24;

/** @returns a password of 32 characters from a random source */
export const generatePassword = (ids: Ids): Secret => new Secret(randomToken(ids, GENERATED_PASSWORD_BYTES));

/** Checks the length of a new password in characters. */
export function checkPassword(password: Secret, problems: Problem[], pointer = "/password"): void {
  const { length } = [...password.reveal()];
  if (length >= PASSWORD_LENGTH_MIN && length <= PASSWORD_LENGTH_MAX) return;
  const detail = `the password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`;
  problems.push({ pointer, detail });
}
