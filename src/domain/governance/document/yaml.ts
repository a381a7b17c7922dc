// A document as YAML text: whole and canonical, and the part that an administrator edits.

import type { GovernanceConfig } from "../model.ts";

/** @returns the canonical text of the whole document: the same document gives the same text */
export const documentYaml = (_document: GovernanceConfig): string => {
  throw new Error("follows");
};

/** @returns the text to edit and send back: without extension-owned parts (control-api.md section 5.3) and without stamps */
export const managedYaml = (_document: GovernanceConfig): string => {
  throw new Error("follows");
};
