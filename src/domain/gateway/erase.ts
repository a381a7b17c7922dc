// What an erasure takes of the gateway's rows. A key is revoked upstream first: until the gateway confirms that, the row that
// waits for it keeps the address, which the gateway knows the key by.
import type { Ids } from "../../platform/ids.ts";
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./erase-store.ts";
import { createKeyRetirement } from "./keys/retire.ts";

/** See ErasePersonalData; counts revocations that still wait. */
export const createEraseKeys = (machine: { ids: Ids }): ErasePersonalData => {
  const retire = createKeyRetirement(machine);
  return (tx, { person: { userId }, nowMs }) => {
    if (userId === undefined) return {};
    retire(tx, { userId, reason: "user_removed", nowMs });
    const sessions = store.removeSessions(tx, userId);
    return { gateway_sessions: sessions, waiting_gateway_revocations: store.countRevocations(tx, userId) };
  };
};
