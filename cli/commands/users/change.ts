// The verbs that change an existing user. Changes that end the user's logins ask for confirmation. The checks of the domain run
// before the question, so that a dry run fails like the real command.
import { type ChangedUser, toAdminUser, type User } from "../../../src/domain/identity/model.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";

const LOGINS_END = "All logins of this user end immediately, on every workstation.";

export async function setRole(call: Call): Promise<void> {
  const [reference = "", role = ""] = call.args;
  const user = find(call, reference);
  if (user.role === role) return unchanged(call, user, `is ${role}`);
  const { users } = call.domain.identity;
  users.checkUpdate(call.actor, user.id, { role });
  const sent = role === "admin" ? 0 : countSentInvitations(call, user);
  await change(call, {
    action: `make ${user.email} ${role}`,
    details: [`The current role is ${user.role}.`, LOGINS_END, ...invitationsEnd(sent)],
    done: `is ${role}`,
    apply: () => users.update(call.actor, user.id, { role }),
  });
}

export async function suspend(call: Call): Promise<void> {
  const user = find(call, call.args[0]);
  if (user.status === "suspended") return unchanged(call, user, "is suspended");
  const { users } = call.domain.identity;
  users.checkUpdate(call.actor, user.id, { status: "suspended" });
  const undo = "`users resume` restores access with the old password.";
  await change(call, {
    action: `suspend ${user.email}`,
    details: [LOGINS_END, ...invitationsEnd(countSentInvitations(call, user)), undo],
    done: "is suspended",
    apply: () => users.setStatus(call.actor, user.id, "suspended"),
  });
}

/** Needs no confirmation: it restores access and ends no login. */
export async function resume(call: Call): Promise<void> {
  const user = find(call, call.args[0]);
  if (user.status === "active") return unchanged(call, user, "is active");
  const after = await call.domain.identity.users.setStatus(call.actor, user.id, "active");
  changed(call, after, "is active");
}

/** Needs no confirmation: it removes nothing. */
export async function unlock(call: Call): Promise<void> {
  const user = find(call, call.args[0]);
  const isChange = await call.domain.identity.users.unlock(call.actor, user.id);
  if (isChange) changed(call, { ...user, canceledInvitations: 0 }, "can sign in again");
  else unchanged(call, user, "has no failed sign-ins");
}

export async function remove(call: Call): Promise<void> {
  const user = find(call, call.args[0]);
  if (user.status === "removed") return unchanged(call, user, "is removed");
  const { users } = call.domain.identity;
  users.checkRemove(call.actor, user.id);
  const canceledInvitations = countSentInvitations(call, user);
  await change(call, {
    action: `remove ${user.email}`,
    details: [
      LOGINS_END,
      ...invitationsEnd(canceledInvitations),
      "The password is deleted; the user record and its history stay.",
    ],
    done: "is removed",
    apply: async () => {
      await users.remove(call.actor, user.id);
      return { ...users.show(call.actor.organizationId, user.id), canceledInvitations };
    },
  });
}

const countSentInvitations = ({ domain, actor }: Call, { id }: User): number =>
  domain.identity.users.countSentInvitations(actor.organizationId, id);

/** @returns the line of the plan about canceled invitations */
const invitationsEnd = (count: number): string[] =>
  count === 0 ? [] : [`${countText(count, "pending invitation")} from this user will be canceled.`];

const find = ({ domain, actor }: Call, reference = ""): User =>
  domain.identity.users.find(actor.organizationId, reference);

interface Change {
  action: string;
  details: readonly string[];
  /** end of the result sentence, after the e-mail address */
  done: string;
  apply(): Promise<ChangedUser>;
}

async function change(call: Call, { action, details, done, apply }: Change): Promise<void> {
  const { context, command } = call;
  if (!(await isConfirmed(context, command, { action, details }))) return;
  changed(call, await apply(), done);
}

function changed({ output }: Call, user: ChangedUser, done: string): void {
  const count = user.canceledInvitations;
  const document = { changed: true, user: toAdminUser(user) };
  const text = `${user.email} ${done}`;
  if (count === 0) output.result(document, text);
  else
    output.result(
      { ...document, canceled_invitations: count },
      `${text}; canceled ${countText(count, "pending invitation")}`,
    );
}

const unchanged = ({ output }: Call, user: User, state: string): void =>
  output.result({ changed: false, user: toAdminUser(user) }, `unchanged: ${user.email} ${state}`);
