// Erases a user's data from the inventory: their workstations and all reported data.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./store.ts";

/** See ErasePersonalData. */
export const eraseClients: ErasePersonalData = (tx, { person: { userId } }) =>
  userId === undefined ? {} : { clients: store.removeOfUser(tx, userId) };
