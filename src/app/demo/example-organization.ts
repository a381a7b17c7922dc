// The example organization: creates its catalog, policies and users in a new installation, with the same operations as
// the commands. The workstations create their logins and reports.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import catalogPath from "../../domain/catalog/example/catalog.yaml" with { type: "file" };
import archivePath from "../../domain/catalog/example/review-guide-1.2.0.tar.gz" with { type: "file" };
import type { ManagedPackage } from "../../domain/catalog/model.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import type { Secret } from "../../platform/secret.ts";
import type { Installation } from "../installation/installation.ts";
import type { DemoDirectory } from "./demo-directory.ts";
import { USERS } from "./profiles.ts";

/** Names that the catalog file refers to; the executable contains the files under different names. */
const FILES: Readonly<Record<string, string>> = {
  "catalog.yaml": catalogPath,
  "review-guide-1.2.0.tar.gz": archivePath,
};
const PACKAGE = "review-guide";

/** Writes the catalog file and its archive. @returns the path of the catalog file */
export async function writeCatalog({ example }: DemoDirectory): Promise<string> {
  for (const [name, source] of Object.entries(FILES)) await Bun.write(join(example, name), Bun.file(source));
  return join(example, "catalog.yaml");
}

export interface Population {
  organizationId: string;
  /** of every user */
  password: Secret;
}

/** The differences between the two policies. */
interface Variant {
  /** first line of the file */
  comment: string;
  claude: string;
  approval: string;
}

const FIRST_POLICY: Variant = {
  comment: "The policy in force when the demo starts.",
  claude: ">=2.0.12, <3",
  approval: "never",
};

const NEXT_POLICY: Variant = {
  comment: "The next policy: claude must be newer, and codex asks before it runs a command.",
  claude: ">=2.1.100, <3",
  approval: "on-request",
};

/** @returns a policy file with one package from the catalog */
const policyText = ({ comment, claude, approval }: Variant, entry: ManagedPackage): string =>
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

/**
 * Creates the users and publishes the first policy.
 * @returns the path of a policy file that may be published next
 */
export async function populate(
  { domain }: Installation,
  { example }: DemoDirectory,
  { organizationId, password }: Population,
): Promise<string> {
  const actor: Actor = { kind: "system", id: null, label: "demo", organizationId };
  const create = (email: string) => domain.identity.users.create(actor, { email, role: "member", password });
  await Promise.all(USERS.map(create));
  const entry = domain.catalog.get(organizationId, PACKAGE);
  const [first, next] = [join(example, "policy.yaml"), join(example, "next-policy.yaml")];
  const text = policyText(FIRST_POLICY, entry);
  writeFileSync(first, text);
  writeFileSync(next, policyText(NEXT_POLICY, entry));
  const { documents } = domain.governance;
  const plan = documents.plan(organizationId, { text, variable: () => undefined });
  await documents.apply(actor, plan, { comment: "the first policy of the demo" });
  return next;
}
