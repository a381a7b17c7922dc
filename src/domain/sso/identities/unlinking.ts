// Unlinks a user from every provider when the account goes to the current owner of the address. identity receives it as a
// dependency.
import type { Tx } from "../../../platform/database/database.ts";
import type { Audit } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { removeExpectations } from "./expected-store.ts";
import { summaryOf } from "./identities.ts";
import { removeOf } from "./identities-store.ts";

/** @returns the function that unlinks a user and removes expectations about the user, in the caller's transaction */
export const createRemoveIdentities =
  ({ audit }: { audit: Audit }) =>
  (tx: Tx, { actor, userId }: { actor: Actor; userId: string }): void => {
    removeExpectations(tx, userId);
    for (const link of removeOf(tx, userId))
      audit.record(tx, { actor, action: "identity.unlink", target: userId, before: summaryOf(link) });
  };
