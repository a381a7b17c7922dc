// Erases a user's identities at providers.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import { removeExpectations } from "./identities/expected-store.ts";
import { removeOf } from "./identities/identities-store.ts";

/** See ErasePersonalData. */
export const eraseIdentities: ErasePersonalData = (tx, { person: { userId } }) =>
  userId === undefined
    ? {}
    : { expected_identities: removeExpectations(tx, userId), user_identities: removeOf(tx, userId).length };
