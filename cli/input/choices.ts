// The values of options that take one of a few words. Types tie them to the domain, whose modules the command tree does not load.
import { Option } from "commander";
import type { Part } from "../../src/app/service/divided/division.ts";
import type { HarnessKey } from "../../src/domain/harnesses/harnesses.ts";
import type { ProvisioningSource, Role, UserStatus } from "../../src/domain/identity/model.ts";
import type { Result } from "../../src/domain/inference/log/model.ts";
import type { Outcome } from "../../src/domain/inference/log/record.ts";
import type { ModelState } from "../../src/domain/inference/models/model.ts";
import type { Group } from "../../src/domain/inference/usage/model.ts";

export const ROLE_CHOICES: readonly Role[] = ["admin", "member"];
export const USER_STATUS_CHOICES: readonly UserStatus[] = ["active", "suspended", "removed"];
export const SOURCE_CHOICES: readonly ProvisioningSource[] = ["local", "scim"];
export const INVITATION_STATUS_CHOICES = ["outstanding"] as const;
export const HARNESS_CHOICES: readonly HarnessKey[] = ["codex", "claude", "kimi", "opencode"];

export const MODEL_STATE_CHOICES: readonly ModelState[] = ["available", "changed", "removed", "unknown"];

export const LOG_RESULT_CHOICES: readonly Result[] = [
  "success",
  "redirect",
  "client_error",
  "server_error",
  "transport_error",
];
export const OUTCOME_CHOICES: readonly Outcome[] = [
  "complete",
  "client_closed",
  "upstream_closed",
  "timeout",
  "cut",
  "stopped",
  "refused",
];
export const USAGE_GROUP_CHOICES: readonly Group[] = ["user", "model", "harness", "day"];

export const PART_CHOICES: readonly Part[] = ["control", "proxy"];

/** @returns an option that refuses other words, lists these in its help and completes them */
export const choiceOption = (flags: string, about: string, choices: readonly string[]): Option =>
  new Option(flags, about).choices(choices);
