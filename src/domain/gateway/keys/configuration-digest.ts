// What every gateway key follows from, as one value: where it differs from the one a key was made under, the key is due.
// A user's address and groups are not in it: their change makes that one key due (retire.ts, due-keys.ts).
import { sha256Hex } from "../../../platform/ids.ts";
import type { GatewaySettings } from "../settings.ts";

/** @returns 64 hexadecimal digits (gateway-keys.md section 2.1 step 3, with gap 12 of section 11 mended) */
export function configurationDigest({
  url,
  provisioner,
}: Pick<GatewaySettings, "url" | "provisioner">): string {
  const { type, executable, policyRevision, policy } = provisioner;
  return sha256Hex(JSON.stringify([url, type, executable?.sha256, policyRevision, policy]));
}
