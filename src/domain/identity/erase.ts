// Erases the rows of a user and of the user's invitations.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import type { IdentityDependencies } from "./dependencies.ts";
import * as store from "./erase-store.ts";
import { cancelSentInvitations } from "./users/lost-access.ts";

/** See ErasePersonalData. Call it last, because rows of other areas refer to the user. */
export const createEraseUser =
  ({ audit }: Pick<IdentityDependencies, "audit">): ErasePersonalData =>
  (tx, { actor, person: { organizationId, userId, addresses } }) => {
    const invitations = store.removeInvitations(tx, organizationId, addresses);
    if (userId === undefined) return { invitations };
    cancelSentInvitations(tx, { audit }, { actor, ids: [userId] });
    store.forgetInviter(tx, userId);
    return { invitations, users: store.removeUser(tx, { organizationId, id: userId }) ? 1 : 0 };
  };
