// Shapes of the texts that users write: the policy without the members of other operations (ownership.ts), and the settings of
// a harness. readDraft checks texts; these shapes tell an editor which members and values to offer.
import { Type } from "@sinclair/typebox";
import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import { GovernanceConfig, HarnessPolicy } from "../model.ts";
import { POLICY_CAPABILITIES } from "../wire.ts";
import { FLAG_SETTINGS, TEXT_SETTINGS } from "./harness-policy.ts";

/** Settings of known types. */
export const SETTINGS_TEXT = Type.Object({
  ...Object.fromEntries(TEXT_SETTINGS.map((name) => [name, Type.String()])),
  ...Object.fromEntries(FLAG_SETTINGS.map((name) => [name, Type.Boolean()])),
});

const HarnessText = Type.Object({
  ...Type.Omit(HarnessPolicy, ["mcp", "package_overrides"]).properties,
  managed_config: SETTINGS_TEXT,
});

export const POLICY_TEXT = Type.Object({
  ...Type.Omit(GovernanceConfig, ["packages", "gateway"]).properties,
  required_capabilities: Type.Array(Type.Union(POLICY_CAPABILITIES.map((name) => Type.Literal(name)))),
  harnesses: Type.Object(Object.fromEntries(HARNESS_KEYS.map((key) => [key, HarnessText]))),
});
