// Erases a user's data from the gateway area. The gateway identifies a key by the email address, so a pending revocation keeps
// the address until the gateway confirms it.
import type { Ids } from "../../platform/ids.ts";
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./erase-store.ts";
import { createKeyRetirement } from "./keys/key-retirement.ts";

/** See ErasePersonalData. The result also counts pending revocations. */
export const createEraseKeys = (machine: { ids: Ids }): ErasePersonalData => {
  const retire = createKeyRetirement(machine);
  return (tx, { person: { userId }, nowMs }) => {
    if (userId === undefined) return {};
    retire(tx, { userId, reason: "user_removed", nowMs });
    const sessions = store.removeSessions(tx, userId);
    return { gateway_sessions: sessions, waiting_gateway_revocations: store.countRevocations(tx, userId) };
  };
};
