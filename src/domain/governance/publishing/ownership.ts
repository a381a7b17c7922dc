// Defines which operation owns which part of a document. The policy operation owns everything except packages, MCP servers and
// package overrides, which the extensions operation owns. The deployment owns the gateway block.

import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { type HarnessKey, harnessKeysIn } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig, HarnessPolicy } from "../model.ts";

const EXTENSION_MEMBERS = ["mcp", "package_overrides", "skills", "plugins"] as const;
/** members of a harness that are set elsewhere in a document */
const FOREIGN_MEMBERS = ["session_upload", "gateway"] as const;

export interface Extensions {
  packages: GovernanceConfig["packages"];
  harnesses: GovernanceConfig["harnesses"];
}

/** @returns the members of a policy text that belong to another operation */
export function findForeignMembers(input: unknown): Problem[] {
  if (!isJsonObject(input)) return [];
  const { gateway, harnesses } = input;
  return [
    ...present(input, ["packages"]).map(belongsElsewhere([])),
    ...(isJsonObject(gateway) ? present(gateway, ["model"]).map(belongsElsewhere(["gateway"])) : []),
    ...Object.entries(isJsonObject(harnesses) ? harnesses : {}).flatMap(([key, policy]) =>
      isJsonObject(policy)
        ? present(policy, [...EXTENSION_MEMBERS, ...FOREIGN_MEMBERS]).map(
            belongsElsewhere(["harnesses", key]),
          )
        : [],
    ),
  ];
}

/**
 * @param published gives the order of harnesses, so that a text difference has no moved lines; new ones follow
 * @returns the document with the packages, MCP servers and overrides of another; keeps its harnesses and restores those with
 * servers or overrides
 */
export function withExtensions(
  document: GovernanceConfig,
  extensions: Extensions,
  { published }: { published: Pick<GovernanceConfig, "harnesses"> },
): GovernanceConfig {
  const keys = new Set(
    [published, document, extensions].flatMap(({ harnesses }) => harnessKeysIn(harnesses)),
  );
  const entries = [...keys].flatMap((key): [HarnessKey, HarnessPolicy][] => {
    const own = document.harnesses[key];
    const { mcp = [], package_overrides = {} } = extensions.harnesses[key] ?? {};
    const isEmpty = mcp.length === 0 && Object.keys(package_overrides).length === 0;
    if (!own && isEmpty) return [];
    return [[key, { ...(own ?? { managed_config: {} }), mcp, package_overrides }]];
  });
  return { ...document, packages: extensions.packages, harnesses: Object.fromEntries(entries) };
}

const present = (mapping: object, names: readonly string[]): string[] =>
  names.filter((name) => Object.hasOwn(mapping, name));

const belongsElsewhere =
  (above: readonly string[]) =>
  (name: string): Problem => ({
    pointer: pointerOf([...above, name]),
    detail: "is not part of this text; another operation publishes it",
  });
