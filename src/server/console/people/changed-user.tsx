// Changes of a user after the form of an action was opened: author, time, and both values.
/** @jsxImportSource preact */
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import type { User } from "../../../domain/identity/model.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { Text, Time } from "../parts/values.tsx";
import { changesOf, isChanged, shortOutcome } from "../system/audit-changes.ts";
import { INVITATIONS_PATH, STATUS_LABELS, USERS_PATH, userPath } from "./words.ts";

/** Number of changes that the form lists. */
export const CHANGES_NAMED_MAX = 5;

interface ChangedUserProps {
  user: User;
  /** of the audit log about the user, newest first */
  changes: readonly NamedEntry[];
  /** label of the button that performs the action anyway */
  verb: string;
}

/** Shows both values, so that the reader can choose. */
export function ChangedUser({ user: { role, status }, changes, verb }: ChangedUserProps) {
  const named = changes.filter((entry) => changesOf(entry).some(isChanged)).slice(0, CHANGES_NAMED_MAX);
  return (
    <>
      <p>This user was changed after the page was opened. Your action was not performed.</p>
      <ul>
        {named.map((entry) => (
          <li key={entry.id}>
            <Text value={entry.actorLabel} />, <Time at={entry.atMs} />: <Text value={shortOutcome(entry)} />
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

interface RemovedUser extends Pick<User, "id" | "email"> {
  /** undefined if retention removed the entry */
  removal: NamedEntry | undefined;
}

/** Answers an action on a user who was removed after its page was opened. */
export const removedUserPage = ({ id, email, removal }: RemovedUser): ConsolePage => ({
  title: "The user was removed",
  status: 409,
  isError: true,
  breadcrumbs: [
    { href: USERS_PATH, label: "Users" },
    { href: userPath(id), label: email },
  ],
  content: (
    <>
      <div class="error-summary" role="alert" tabIndex={-1} autofocus>
        <p>
          {removal ? <Text value={removal.actorLabel} /> : "Somebody"} removed <Text value={email} />
          {removal && (
            <>
              {" "}
              <Time at={removal.atMs} />
            </>
          )}
          . Nothing was changed.
        </p>
      </div>
      <p>
        To give this person access again, <a href={INVITATIONS_PATH}>invite the address</a>.
      </p>
    </>
  ),
});
