// Erases the rows of a user, of the user's invitations and of the user's password link.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import type { IdentityDependencies } from "./dependencies.ts";
import * as store from "./erase-store.ts";
import * as passwordLinkStore from "./password-links/password-link-store.ts";
import { cancelIssuedLinks } from "./users/lost-access.ts";

/** See ErasePersonalData. Call it last, because rows of other areas refer to the user. */
export const createEraseUser =
  ({ audit }: Pick<IdentityDependencies, "audit">): ErasePersonalData =>
  (tx, { actor, person: { organizationId, userId, addresses } }) => {
    const invitations = store.removeInvitations(tx, organizationId, addresses);
    if (userId === undefined) return { invitations };
    cancelIssuedLinks(tx, { audit }, { actor, ids: [userId] });
    passwordLinkStore.removeLinks(tx, { userId }); // not counted, because removing the user has already voided it
    store.forgetInviter(tx, userId);
    return { invitations, users: store.removeUser(tx, { organizationId, id: userId }) ? 1 : 0 };
  };
