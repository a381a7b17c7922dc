// `users change`: suspends or resumes many users, ends their logins or changes their role.

import type { UserQuery } from "../../../src/domain/identity/directory/user-directory.ts";
import { BULK_USER_ACTIONS, type BulkUserAction } from "../../../src/domain/identity/users/bulk-changes.ts";
import { invariant } from "../../../src/platform/errors.ts";
import { type BulkSelection, filterWords, requireOneSelection, runBulk, searchOf } from "../../bulk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { filterOf } from "./read.ts";

const LOGINS_END = "Their logins end immediately, on every workstation.";

const PLANS: Readonly<
  Record<BulkUserAction, { action: string; done: string; end?: string; details: string[] }>
> = {
  suspend: {
    action: "suspend",
    done: "suspended",
    details: [LOGINS_END, "`users change resume` restores access."],
  },
  resume: { action: "resume", done: "resumed", details: ["Ended logins stay ended."] },
  end_logins: {
    action: "end all logins of",
    done: "ended all logins of",
    details: ["Accounts and roles stay."],
  },
  make_admin: { action: "give the role admin to", done: "gave the role admin to", details: [LOGINS_END] },
  make_member: { action: "give the role member to", done: "gave the role member to", details: [LOGINS_END] },
};

export async function change(call: Call): Promise<void> {
  const { domain, actor } = call;
  const { bulkChanges } = domain.identity;
  const [word, ...references] = call.args;
  const action = BULK_USER_ACTIONS.find((known) => known === word);
  invariant(action, "commander checked the action");
  const { action: verb, done, details } = PLANS[action];
  await runBulk<UserQuery>(call, {
    chosen: chosenBy(call, references),
    nouns: ["user", "users"],
    action: (users) => `${verb} ${users}`,
    details,
    done: (users) => `${done} ${users}`,
    count: (chosen) => bulkChanges.count(actor.organizationId, chosen),
    slice: (slice) => bulkChanges.slice(actor, { action, ...slice }),
  });
}

function chosenBy(call: Call, references: readonly string[]): BulkSelection<UserQuery> {
  const { domain, actor } = call;
  const filter = { ...filterOf(call), q: searchOf(call) };
  const words = filterWords(call, [
    "q",
    "role",
    "status",
    "source",
    "group",
    "workstations",
    "notSeenForDays",
  ]);
  requireOneSelection(
    call,
    { references, filters: words },
    {
      reason: "usage.which_users",
      nothing: "name users, or select them with filters such as --role, or with --all",
      command: "users change",
    },
  );
  if (references.length === 0) return { filter, text: words };
  const { users } = domain.identity;
  return { ids: references.map((reference) => users.find(actor.organizationId, reference).id) };
}
