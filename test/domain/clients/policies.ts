// Documents and reports for the tests of clients: valid, so that a test changes one place.

import type { ManagedPackage } from "../../../src/domain/catalog/service.ts";
import type { ClientStatusReport, Reported } from "../../../src/domain/clients/model.ts";
import type { GovernanceConfig } from "../../../src/domain/governance/service.ts";

export const REVISION = "01940000-aaaa-7000-8000-000000000001";
export const USER = "01940000-bbbb-7000-8000-000000000001";
export const DIGEST = "ab".repeat(32);
export const MAC_DIGEST = "cd".repeat(32);
export const LINUX_DIGEST = "ef".repeat(32);

const LAYOUT = { plugins: [], helpers: {} };

export const packageWith = (members: Partial<ManagedPackage> = {}): ManagedPackage => ({
  id: "review",
  version: "1.0.0",
  source_ref: "review.tar.gz",
  sha256: DIGEST,
  settings: {},
  adapters: { codex: LAYOUT, claude: LAYOUT },
  ...members,
});

/** codex and claude are allowed, and each must have the package `review`. */
export const documentWith = (members: Partial<GovernanceConfig> = {}): GovernanceConfig => ({
  revision: REVISION,
  contract_version: 3,
  required: false,
  allowed_harnesses: ["codex", "claude"],
  harnesses: {},
  packages: [packageWith()],
  ...members,
});

export const reportedPackage = (members: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: "review",
  version: "1.0.0",
  sha256: DIGEST,
  harness: "codex",
  state: "applied",
  ...members,
});

export const reportedHarness = (members: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: "codex",
  api_allowed: true,
  client_supported: true,
  installed: true,
  version: "0.145.0",
  reconciled: true,
  ...members,
});

/** The report of a workstation that runs codex and conforms to the policy. */
export const reportedWith = (members: Partial<Reported> = {}): Reported => ({
  userId: USER,
  organizationId: "01940000-cccc-7000-8000-000000000001",
  platform: "linux",
  architecture: "x86_64",
  configRevision: REVISION,
  applied: true,
  filesOk: true,
  error: null,
  attempt: null,
  harnesses: [reportedHarness()],
  packages: [reportedPackage()],
  ...members,
});

/** The report of a workstation that conforms to the policy of documentWith(). */
export const reportWith = (members: Partial<ClientStatusReport> = {}): ClientStatusReport => ({
  instance_id: "instance-1",
  hostname: "lab-14",
  client_version: "0.1.0",
  platform: "linux",
  architecture: "x86_64",
  config_revision: null,
  applied: true,
  files_ok: true,
  harnesses: [reportedHarness()],
  packages: [reportedPackage()],
  reconciliation_attempt: null,
  error: null,
  ...members,
});
