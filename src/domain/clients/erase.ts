// What an erasure takes of the inventory: the person's workstations, with all that they reported.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./store.ts";

/** See ErasePersonalData. */
export const eraseClients: ErasePersonalData = (tx, { person: { userId } }) =>
  userId === undefined ? {} : { clients: store.removeOfUser(tx, userId) };
