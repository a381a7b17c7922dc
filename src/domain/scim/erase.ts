// What an erasure takes of provisioning: refused requests that name the person, and the name of whoever made a token. The user as
// the provider described it went when the provider removed it.
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
