// Sentences and labels of the pages about people.
import type { KeyState } from "../../../domain/gateway/model.ts";
import { type ProvisioningSource, ROLES, type UserStatus } from "../../../domain/identity/model.ts";
import { roleText } from "../../pages/words.ts";
import { CONSOLE } from "../frame/navigation.ts";
import type { Filter } from "../list/list.ts";
import type { Tone } from "../parts/values.tsx";

export const USERS_PATH = `${CONSOLE}/users`;
export const INVITATIONS_PATH = `${CONSOLE}/invitations`;
export const GROUPS_PATH = `${CONSOLE}/groups`;
export const LOGINS_PATH = `${CONSOLE}/logins`;

/** Filters of every list of people with an address and a role. */
export const PERSON_FILTERS: readonly Filter[] = [
  { name: "q", label: "Search", kind: "search", hint: "Part of an address" },
  {
    name: "role",
    label: "Role",
    kind: "choice",
    choices: ROLES.map((value) => ({ value, label: roleText(value) })),
  },
];

/** @returns the path of a user's page */
/** @returns path of the page about one login */
export const loginPath = (id: string): string => `${LOGINS_PATH}/${id}`;
export const userPath = (id: string): string => `${USERS_PATH}/${id}`;

export const STATUS_LABELS: Readonly<Record<UserStatus, { label: string; tone: Tone }>> = {
  active: { label: "Active", tone: "good" },
  suspended: { label: "Suspended", tone: "attention" },
  removed: { label: "Removed", tone: "neutral" },
};

export const SOURCE_LABELS: Readonly<Record<ProvisioningSource, string>> = {
  local: "Local",
  scim: "Identity provider",
};

export const KEY_LABELS: Readonly<Record<KeyState, { label: string; tone: Tone }>> = {
  ready: { label: "Ready", tone: "good" },
  missing: { label: "None", tone: "neutral" },
  invalid: { label: "Refused by the gateway", tone: "bad" },
  recovering: { label: "Being replaced", tone: "attention" },
  error: { label: "Failed", tone: "bad" },
};
