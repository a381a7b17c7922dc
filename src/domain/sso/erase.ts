// Erases a person's identities at providers.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import { removeIdentities } from "./erase-store.ts";

/** See ErasePersonalData. */
export const eraseIdentities: ErasePersonalData = (tx, { person: { userId } }) =>
  userId === undefined ? {} : { user_identities: removeIdentities(tx, userId) };
