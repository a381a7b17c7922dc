// Digest of the configuration that all gateway keys depend on. A key created under another digest is due.
// A user's email address and groups are not included: their changes affect only that user's key (key-retirement.ts, due-keys.ts).
import { sha256Hex } from "../../../platform/ids.ts";
import type { GatewaySettings } from "../settings.ts";

/** @returns 64 hexadecimal digits */
export function configurationDigest({
  url,
  provisioner,
}: Pick<GatewaySettings, "url" | "provisioner">): string {
  const { type, executable, policyRevision, policy } = provisioner;
  return sha256Hex(JSON.stringify([url, type, executable?.sha256, policyRevision, policy]));
}
