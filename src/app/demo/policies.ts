// The two policies of the demo as files that a person reads and changes.
import { stringify } from "yaml";
import type { ManagedPackage } from "../../domain/catalog/model.ts";

/** The places in which the two policies differ. */
interface Variant {
  /** first line of the file */
  comment: string;
  claude: string;
  approval: string;
}

export const FIRST_POLICY: Variant = {
  comment: "The policy in force when the demo starts.",
  claude: ">=2.0.12, <3",
  approval: "never",
};

export const NEXT_POLICY: Variant = {
  comment: "The next policy: claude must be newer, and codex asks before it runs a command.",
  claude: ">=2.1.100, <3",
  approval: "on-request",
};

/** @returns a policy file with one package from the catalog */
export const policyText = ({ comment, claude, approval }: Variant, entry: ManagedPackage): string =>
  `# ${comment}
revision: demo
required: true
allowed_harnesses: [claude, codex]
harnesses:
  claude:
    version_requirement: "${claude}"
    managed_config:
      auto_approve: false
  codex:
    managed_config:
      approval_policy: ${approval}
      sandbox_mode: workspace-write
${stringify({ packages: [entry] })}`;
