// The policy for one harness: versions, settings, MCP servers, package overrides and models (handbook: policy-file, Members).

import { ObjectReader, readText } from "../../../platform/text/object-reader.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import { type HarnessKey, isHarnessKey, unknownHarness } from "../../harnesses/harnesses.ts";
import { readFreeFormObject } from "../../shared/free-form-object.ts";
import { HARNESSES_MAX, type HarnessPolicy, OVERRIDES_MAX, SETTING_CHARACTERS_MAX } from "../model.ts";
import { parseRequirement, REQUIREMENT_CHARACTERS_MAX } from "../versions/requirement.ts";
import { readMcpServers } from "./mcp.ts";
import { readGatewayModels } from "./model-lists.ts";

const POLICY_MEMBERS = [
  "version_requirement",
  "allow_unverified_versions",
  "managed_config",
  "mcp",
  "package_overrides",
  "gateway_models",
];
const OVERRIDE_MEMBERS = ["enabled", "settings"];
/** Settings whose type we know; the harness defines all others. */
export const TEXT_SETTINGS = ["model", "approval_policy", "sandbox_mode", "reasoning_effort"];
export const FLAG_SETTINGS: readonly string[] = ["auto_approve", "fast_mode"];
/** Settings of every harness that the policy may set; null and absent leave them to the harness. */
export const KNOWN_SETTINGS: readonly string[] = [...TEXT_SETTINGS, ...FLAG_SETTINGS];

const readRequirement = (members: ObjectReader): string | undefined => {
  const text = members.text("version_requirement", REQUIREMENT_CHARACTERS_MAX);
  if (text === undefined || parseRequirement(text)) return text;
  members.report(
    `${quoted(text)} is not a version requirement such as ">=2.0.12, <3"`,
    "version_requirement",
  );
  return undefined;
};

const readAllowsUnverified = (members: ObjectReader): boolean => {
  const name = "allow_unverified_versions";
  const isAllowed = members.flag(name) === true;
  if (isAllowed && !members.has("version_requirement"))
    members.report("also needs version_requirement, which selects the versions", name);
  return isAllowed;
};

/** Null means absent for settings whose type we know; for all others it is an ordinary value. */
const readManagedConfig = (members: ObjectReader): HarnessPolicy["managed_config"] => {
  const { problems } = members;
  const config = readFreeFormObject(members, "managed_config");
  const typed = ObjectReader.read(
    { value: config, pointer: members.at("managed_config") },
    problems,
    Object.keys(config),
  );
  for (const name of TEXT_SETTINGS) typed?.text(name, SETTING_CHARACTERS_MAX);
  for (const name of FLAG_SETTINGS) typed?.flag(name);
  const isAbsent = ([name, value]: [string, unknown]) =>
    value === null && [...TEXT_SETTINGS, ...FLAG_SETTINGS].includes(name);
  return Object.fromEntries(Object.entries(config).filter((entry) => !isAbsent(entry)));
};

/** Whether the packages exist is checked with the whole document. */
const readOverrides = (members: ObjectReader): HarnessPolicy["package_overrides"] =>
  Object.fromEntries(
    members.entries("package_overrides", OVERRIDES_MAX).flatMap(([id, place]) => {
      const override = ObjectReader.read(place, members.problems, OVERRIDE_MEMBERS);
      if (!override) return [];
      const enabled = override.flag("enabled");
      const settings = readFreeFormObject(override, "settings");
      return [[id, { ...(enabled === undefined ? {} : { enabled }), settings }]];
    }),
  );

const readPolicy = (members: ObjectReader): HarnessPolicy => {
  const requirement = readRequirement(members);
  const allowsUnverified = readAllowsUnverified(members);
  return {
    ...(requirement === undefined ? {} : { version_requirement: requirement }),
    ...(allowsUnverified ? { allow_unverified_versions: true as const } : {}),
    managed_config: readManagedConfig(members),
    mcp: readMcpServers(members),
    package_overrides: readOverrides(members),
    ...readGatewayModels(members),
  };
};

/** Reads `harnesses` of a document. @returns the policy for each harness, by canonical key */
export const readHarnesses = (members: ObjectReader): { [Key in HarnessKey]?: HarnessPolicy } => {
  const harnesses: { [Key in HarnessKey]?: HarnessPolicy } = {};
  for (const [name, place] of members.entries("harnesses", HARNESSES_MAX)) {
    if (!isHarnessKey(name)) {
      members.problems.add(place.pointer, unknownHarness(name));
      continue;
    }
    const policy = ObjectReader.read(place, members.problems, POLICY_MEMBERS);
    if (policy) harnesses[name] = readPolicy(policy);
  }
  return harnesses;
};

/** Reads `allowed_harnesses` of a document. @returns each canonical key once, at its first position */
export const readAllowedHarnesses = (members: ObjectReader): HarnessKey[] => {
  const { problems } = members;
  const keys = members.items("allowed_harnesses", HARNESSES_MAX).flatMap((place) => {
    const name = readText(place, problems, SETTING_CHARACTERS_MAX);
    if (name === undefined) return [];
    if (isHarnessKey(name)) return [name];
    problems.add(place.pointer, `${quoted(name)} ${unknownHarness(name)}`);
    return [];
  });
  return [...new Set(keys)];
};
