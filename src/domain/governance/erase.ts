// What an erasure changes of policies: who published a revision, and addresses in its comment. What the policy says stays.
import { type ErasePersonalData, replaceAddresses } from "../shared/personal-data.ts";
import * as store from "./erase-store.ts";

/** See ErasePersonalData. */
export const eraseAuthor: ErasePersonalData = (tx, { person }) => {
  const replace = replaceAddresses(person);
  if (person.addresses.length > 0)
    for (const { id, comment } of store.commentsWith(tx, person)) {
      const replaced = replace(comment);
      if (replaced !== comment) store.setComment(tx, { id, comment: replaced });
    }
  return { policy_revisions: store.renameAuthor(tx, person, person.pseudonym) };
};
