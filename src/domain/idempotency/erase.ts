// Erases the stored responses of a user's requests.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./store.ts";

/** See ErasePersonalData. */
export const eraseResponses: ErasePersonalData = (tx, { person: { userId } }) =>
  userId === undefined ? {} : { idempotent_answers: store.removeOfCaller(tx, userId) };
