// Sentences and labels of the pages about sign-in and provisioning.
import type { ScimProfile } from "../../../domain/scim/model.ts";
import type { ScimTokenView } from "../../../domain/scim/tokens/tokens.ts";
import type { SsoSettings } from "../../../domain/sso/service.ts";
import { CONSOLE } from "../frame/navigation.ts";
import type { Tone } from "../parts/values.tsx";

export const IDENTITY_PATH = `${CONSOLE}/identity`;
export const TOKENS_PATH = `${IDENTITY_PATH}/tokens`;
export const NEW_TOKEN_PATH = `${TOKENS_PATH}/new`;

/** The command that makes the first token of a provider, as an example. */
export const FIRST_TOKEN = ["scim", "tokens", "create", "okta"];

/** @returns the path of the page that asks before a token is revoked */
export const revokePath = (id: string): string => `${TOKENS_PATH}/${id}/revoke`;

export const MODE_TEXT = {
  password: "With a password",
  oidc: "At the identity provider",
} as const;

export const PROVISIONING_TEXT: Readonly<Record<SsoSettings["provisioning"], string>> = {
  scim: "Users that the provider provisions",
  invited: "Users that exist here, and invited people",
  jit: "Anyone the rules admit; the first sign-in creates the user",
};

export const TOKEN_STATES: Readonly<Record<ScimTokenView["state"], { label: string; tone: Tone }>> = {
  active: { label: "Active", tone: "good" },
  expired: { label: "Expired", tone: "attention" },
  revoked: { label: "Revoked", tone: "neutral" },
  unset: { label: "No longer configured", tone: "neutral" },
};

export const PROFILE_TEXT: Readonly<Record<ScimProfile, string>> = {
  standard: "Standard",
  entra: "Microsoft Entra ID",
};
