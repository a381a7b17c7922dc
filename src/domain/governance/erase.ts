// Erases a user from the policy history: the author of a revision, and addresses in its comment. The policy itself stays. Also
// removes the user's draft and unfinished package.
import { type ErasePersonalData, replaceAddresses } from "../shared/personal-data.ts";
import { removeAddition } from "./additions/addition-store.ts";
import { removeDraft } from "./drafts/draft-store.ts";
import * as store from "./erase-store.ts";

/** See ErasePersonalData. */
export const eraseAuthor: ErasePersonalData = (tx, { person }) => {
  const replace = replaceAddresses(person);
  if (person.addresses.length > 0)
    for (const { id, comment } of store.commentsWith(tx, person)) {
      const replaced = replace(comment);
      if (replaced !== comment) store.setComment(tx, { id, comment: replaced });
    }
  const isRemoved = person.userId !== undefined && removeDraft(tx, person.userId);
  const hasAddition = person.userId !== undefined && removeAddition(tx, person.userId);
  return {
    package_additions: hasAddition ? 1 : 0,
    policy_drafts: isRemoved ? 1 : 0,
    policy_revisions: store.renameAuthor(tx, person, person.pseudonym),
  };
};
