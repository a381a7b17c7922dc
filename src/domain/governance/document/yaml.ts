// Writes a document as YAML: the canonical text, and the part that an administrator edits.

import { yamlText } from "../../../platform/text/yaml-write.ts";
import { harnessKeysIn } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig } from "../model.ts";
import { orderMembers } from "./member-order.ts";
import { unstamped } from "./stamp.ts";

/** @returns the canonical text of the whole document: equal documents give equal texts */
export const documentYaml = (document: GovernanceConfig): string => yamlText(orderMembers(document));

/** @returns the text to edit and send back: without extensions and stamps */
export const managedYaml = (document: GovernanceConfig): string => {
  const { packages: _packages, contract_version, harnesses, revision, ...rest } = unstamped(document);
  const own = harnessKeysIn(harnesses).flatMap((key) => {
    const { mcp: _mcp, package_overrides: _overrides, ...policy } = harnesses[key] ?? {};
    return harnesses[key] ? [[key, policy] as const] : [];
  });
  const contract = contract_version === 1 ? {} : { contract_version };
  return yamlText(orderMembers({ revision, ...contract, ...rest, harnesses: Object.fromEntries(own) }));
};
