// Warning at startup, in `scim status` and in `doctor` about provisioned users who cannot sign in: SCIM delivers no password,
// and no identity provider for sign-in is configured.

import { countText } from "../../../platform/count-text.ts";

/** @param count at least 1 @returns the problem as a sentence without a period */
export const cannotSignInText = (count: number): string =>
  `${countText(count, "provisioned user has", "provisioned users have")} no password and cannot sign in: no identity provider is configured for sign-in`;

export const CANNOT_SIGN_IN_REMEDY =
  "give each one a link to set a password: quartermaster users password-link USER";
