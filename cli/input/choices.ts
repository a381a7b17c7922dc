// The values of options that take one of a few words. Types tie them to the domain, whose modules the command tree does not load.
import { Option } from "commander";
import type { HarnessKey } from "../../src/domain/harnesses/harnesses.ts";
import type { ProvisioningSource, Role, UserStatus } from "../../src/domain/identity/model.ts";
import type { ModelState } from "../../src/domain/inference/models/model.ts";

export const ROLE_CHOICES: readonly Role[] = ["admin", "member"];
export const USER_STATUS_CHOICES: readonly UserStatus[] = ["active", "suspended", "removed"];
export const SOURCE_CHOICES: readonly ProvisioningSource[] = ["local", "scim"];
export const INVITATION_STATUS_CHOICES = ["outstanding"] as const;
export const HARNESS_CHOICES: readonly HarnessKey[] = ["codex", "claude", "kimi", "opencode"];

export const MODEL_STATE_CHOICES: readonly ModelState[] = ["available", "changed", "removed", "unknown"];

/** @returns an option that refuses other words, lists these in its help and completes them */
export const choiceOption = (flags: string, about: string, choices: readonly string[]): Option =>
  new Option(flags, about).choices(choices);
