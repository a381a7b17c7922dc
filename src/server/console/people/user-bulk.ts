// Actions on many users: their texts, and the equivalent commands and requests.
import type { BulkUserAction } from "../../../domain/identity/users/bulk-changes.ts";
import type { BulkView } from "../list/bulk.tsx";
import type { Values } from "../list/list.ts";
import { type Equivalents, options, optionsOrAll } from "../parts/command.tsx";
import type { UserAction } from "./user-actions.ts";
import { USERS_PATH } from "./words.ts";

const LOGINS_END = "All their logins end now, and they sign in again.";
const EXCEPTED =
  "Your own account, the protected administrator, the last administrator and users of the identity provider do not change.";
const INVITATIONS = "Pending invitations from them are canceled.";

/** The actions on many users. */
export const USER_BULK: BulkView<BulkUserAction> = {
  path: `${USERS_PATH}/action`,
  listPath: USERS_PATH,
  list: "Users",
  nouns: ["user", "users"],
  words: {
    suspend: {
      label: "Suspend…",
      ask: (users) => `Suspend ${users}?`,
      consequences: [
        "Their logins end. Their gateway keys are revoked at the gateway as soon as it can be reached.",
        `Nothing is deleted. Resuming does not restore the logins. ${INVITATIONS}`,
      ],
      excepted: EXCEPTED,
      verb: "Suspend",
      done: (users) => `${users} suspended`,
      doneRow: "Suspended",
    },
    resume: {
      label: "Resume…",
      ask: (users) => `Resume ${users}?`,
      consequences: ["They can sign in again with their old passwords. Earlier logins stay ended."],
      excepted: "Users of the identity provider are resumed there.",
      verb: "Resume",
      done: (users) => `${users} resumed`,
      doneRow: "Resumed",
    },
    end_logins: {
      label: "End logins…",
      ask: (users) => `End all logins of ${users}?`,
      consequences: [
        "Every browser and every workstation of these people must sign in again. You stay signed in.",
        "Accounts, roles and gateway keys stay.",
      ],
      verb: "End all logins",
      done: (users) => `All logins of ${users} ended`,
      doneRow: "Logins ended",
      isSevere: true,
    },
    make_admin: {
      label: "Make administrators…",
      ask: (users) => `Make ${users} administrators?`,
      consequences: [LOGINS_END, "Administrators read and change everything in this installation."],
      excepted: EXCEPTED,
      verb: "Make administrators",
      done: (users) => `${users} made administrators`,
      doneRow: "Made administrator",
      isSevere: true,
    },
    make_member: {
      label: "Make members…",
      ask: (users) => `Make ${users} members?`,
      consequences: [LOGINS_END, `Members see only their own data. ${INVITATIONS}`],
      excepted: EXCEPTED,
      verb: "Make members",
      done: (users) => `${users} made members`,
      doneRow: "Made member",
    },
  },
};

/** These actions are also on the page of one user. */
export const SINGLE_ACTIONS: Readonly<Record<BulkUserAction, UserAction>> = {
  suspend: "suspend",
  resume: "resume",
  end_logins: "end-logins",
  make_admin: "make-administrator",
  make_member: "make-member",
};

type Chosen = { addresses: readonly string[]; ids: readonly string[] } | { values: Values; expected: number };

/** @returns the filters of an address as the API takes them */
export const userFilter = ({
  q,
  role,
  status,
  provisioning_source,
  group,
  workstations,
  not_seen: days,
}: Values) => ({
  q,
  role,
  status,
  provisioning_source,
  group,
  workstations,
  not_seen_for_days: days === undefined ? undefined : Number(days),
});

/** @returns the filters of an address as options of `users list` and `users change` */
export function userOptions(values: Values): string[] {
  const { provisioning_source: source, not_seen_for_days: days, ...same } = userFilter(values);
  return options({ ...same, source, "not-seen-for-days": days });
}

/** @returns the equivalent command and request */
export function userBulkEquivalents(action: BulkUserAction, chosen: Chosen): Equivalents {
  const api = (body: object) =>
    ({ method: "POST", path: "/admin/users/change", body: { action, ...body } }) as const;
  const command = (words: readonly string[]) => ["users", "change", action, ...words];
  if ("ids" in chosen) return { command: command(chosen.addresses), api: api({ ids: chosen.ids }) };
  const { values, expected } = chosen;
  return {
    command: command(optionsOrAll(userOptions(values))),
    api: api({ filter: userFilter(values), expected }),
  };
}
