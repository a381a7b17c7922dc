// The values of options whose modules in the domain are too large for the command tree to load. Types tie them to the domain.
import { Option } from "commander";
import type { Part } from "../../src/app/service/divided/division.ts";
import type { BulkKeyAction } from "../../src/domain/gateway/administration/bulk-key-changes.ts";
import type { ProvisioningSource, Role, UserStatus } from "../../src/domain/identity/model.ts";
import type { BulkUserAction } from "../../src/domain/identity/users/bulk-changes.ts";

export const ROLE_CHOICES: readonly Role[] = ["admin", "member"];
export const USER_STATUS_CHOICES: readonly UserStatus[] = ["active", "suspended", "removed"];
export const USER_ACTION_CHOICES: readonly BulkUserAction[] = [
  "suspend",
  "resume",
  "end_logins",
  "make_admin",
  "make_member",
];
export const KEY_ACTION_CHOICES: readonly BulkKeyAction[] = ["ensure", "rotate", "revoke"];
export const SOURCE_CHOICES: readonly ProvisioningSource[] = ["local", "scim"];
/** NO_WORKSTATION of the domain. */
export const WORKSTATIONS_CHOICES = ["none"] as const;
export const INVITATION_STATUS_CHOICES = ["outstanding"] as const;
export const PART_CHOICES: readonly Part[] = ["control", "proxy"];

/** @returns an option that accepts only these words, lists them in its help and completes them */
export const choiceOption = (flags: string, about: string, choices: readonly string[]): Option =>
  new Option(flags, about).choices(choices);
