// A repository host with TLS of a private CA, and the configuration file that connects an installation to it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "../in-process.ts";
import { beginPolicyOn } from "../installed/installed-policy.ts";
import { certify } from "../network/private-ca.ts";
import { createRepositoryHost, type RepositoryHost, TOKEN } from "./repository-host.ts";

/** Name of the configuration file in the folder. */
export const HOST_CONFIG = "forge.yaml";

/** @returns the host, which has one commit on `main`; the folder has a configuration with the connection `forge` */
export async function createInstalledHost(folder: string): Promise<RepositoryHost> {
  const { cert, key, ca } = await certify();
  const host = createRepositoryHost("gitea", { tls: { cert, key } });
  host.origin = host.origin.replace("127.0.0.1", "localhost");
  host.branches.set("main", host.commit({ "skills/guide/SKILL.md": "# Guide\n" }));
  writeFileSync(join(folder, "forge-ca.pem"), ca);
  writeFileSync(join(folder, "forge-token"), TOKEN, { mode: 0o600 });
  const connection = {
    id: "forge",
    provider: "gitea",
    api_base_url: host.origin,
    token: "file://forge-token",
    ca_bundle: "forge-ca.pem",
    organizations: { dev: ["acme"] },
  };
  const document = { package_sources: { connections: [connection] } };
  writeFileSync(join(folder, HOST_CONFIG), JSON.stringify(document), { mode: 0o600 });
  return host;
}

/** Publishes a policy with one package. */
export async function publishOn(
  other: Workspace,
  { source_ref, sha256, artifact_id }: Record<string, unknown>,
) {
  await beginPolicyOn(other);
  const { document } = await other.json("policy show");
  const entry = { id: "guide", version: "1.0.0", source_ref, artifact_id, sha256, adapters: {} };
  const policy = { ...Object(document), packages: [entry] };
  writeFileSync(join(other.folder, "policy.json"), JSON.stringify(policy));
  await other.json("policy apply policy.json --yes");
}
