// Changes of a user that were made after the form of an action was opened: whose they are, when they were made, and both values.
/** @jsxImportSource preact */
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import type { User } from "../../../domain/identity/model.ts";
import { Text, Time } from "../parts/values.tsx";
import { changesOf, isChanged, outcomeText } from "../system/audit-changes.ts";
import { STATUS_LABELS } from "./words.ts";

/** Changes that the form names. */
export const CHANGES_NAMED_MAX = 5;

interface ChangedUserProps {
  user: User;
  /** of the audit log about the user, newest first */
  changes: readonly NamedEntry[];
  /** label of the button that performs the action anyway */
  verb: string;
}

/** Shows the values of both, so that the reader can choose. */
export function ChangedUser({ user: { role, status }, changes, verb }: ChangedUserProps) {
  const named = changes.filter((entry) => changesOf(entry).some(isChanged)).slice(0, CHANGES_NAMED_MAX);
  return (
    <>
      <p>This user was changed after the page was opened. Your action was not performed.</p>
      <ul>
        {named.map((entry) => (
          <li key={entry.id}>
            <Text value={entry.actorLabel} />, <Time at={entry.atMs} />: <Text value={outcomeText(entry)} />
          </li>
        ))}
      </ul>
      <p>
        The user is {role === "admin" ? "an administrator" : "a member"} now, and{" "}
        {STATUS_LABELS[status].label.toLowerCase()}. Press “{verb}” to do it anyway, or cancel.
      </p>
    </>
  );
}
