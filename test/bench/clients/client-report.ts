// The report of a workstation in a benchmark: about a kilobyte, in full conformance with the policy. It imports nothing
// of the product, so that the load generator can use it.

/** The policy that the reports refer to. */
export interface Policy {
  /** id of the revision */
  revision: string;
  packages: readonly { id: string; version: string; sha256: string }[];
}

const HARNESS = "claude";
const HARNESS_VERSION = "2.0.20";

/** @returns the body of POST /client-status of that workstation */
export const clientReport = (at: number, { revision, packages }: Policy) => ({
  instance_id: `8c5f3b1e-52d4-4c09-9f1b-${String(at).padStart(12, "0")}`,
  hostname: `workstation-${at}.example.com`,
  client_version: "1.4.2",
  platform: "linux",
  architecture: "x86_64",
  config_revision: revision,
  applied: true,
  files_ok: true,
  harnesses: [
    {
      name: HARNESS,
      api_allowed: true,
      client_supported: true,
      installed: true,
      path: "/usr/local/bin/claude",
      raw_version: `${HARNESS_VERSION} (Claude Code)`,
      version: HARNESS_VERSION,
      compatibility_profile: "claude-2",
      compatibility_deprecated: false,
      reconciled: true,
    },
  ],
  packages: packages.map((one) => ({ ...one, harness: HARNESS, state: "applied", error: null })),
});
