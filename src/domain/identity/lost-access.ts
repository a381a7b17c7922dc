// Which changes of a user cost them their gateway key: it was made for an active person of one address.
import type { Tx } from "../../platform/database/database.ts";
import type { KeyLoss, RetireGatewayKey } from "./dependencies.ts";
import { emailKey, type User } from "./model.ts";

/**
 * Takes the gateway key away where a change ends what it was made for, in the transaction of that change.
 * @source scim.md SCIM-18, gateway-keys.md sections 8.1 and 11.12
 */
export function retireLostKey(
  tx: Tx,
  retireGatewayKey: RetireGatewayKey,
  { before, after }: { before: User; after: User },
): void {
  const reason = lossOf(before, after);
  if (reason) retireGatewayKey(tx, { userId: after.id, reason, nowMs: after.updatedAtMs });
}

function lossOf(before: User, after: User): KeyLoss | undefined {
  if (before.status === "active" && after.status !== "active")
    return after.status === "removed" ? "user_removed" : "user_suspended";
  return emailKey(before.email) === emailKey(after.email) ? undefined : "address_changed";
}
