// Erases a user from provisioning: stored refusals that name the user, and the user's name as the creator of tokens. The provider's
// removal already deleted the user's document.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./erase-store.ts";

/** See ErasePersonalData. */
export const eraseProvisioning: ErasePersonalData = (tx, { person }) => {
  const { organizationId, userId, addresses, userNames, pseudonym } = person;
  const names = [...addresses, ...userNames, ...(userId === undefined ? [] : [userId])];
  return {
    scim_refusals: store.removeRefusals(tx, { organizationId, names }),
    scim_tokens: store.renameMaker(tx, { organizationId, by: addresses, pseudonym }),
  };
};
