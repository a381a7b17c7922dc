// Actions of administrators on one user: labels, the texts of the confirmation pages, and the equivalent commands.

import type { User } from "../../../domain/identity/model.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Confirmation } from "../parts/form.tsx";
import { USERS_PATH, userPath } from "./words.ts";

export const USER_ACTIONS = [
  "make-administrator",
  "make-member",
  "suspend",
  "resume",
  "end-logins",
  "password-link",
  "remove",
] as const;
export type UserAction = (typeof USER_ACTIONS)[number];

export const ACTION_LABELS: Readonly<Record<UserAction, string>> = {
  "make-administrator": "Make administrator",
  "make-member": "Make member",
  suspend: "Suspend",
  resume: "Resume",
  "end-logins": "End all logins",
  "password-link": "Link to set a password",
  remove: "Remove",
};

/** @returns the actions that fit the state of the user */
export const actionsFor = ({ role, status }: User): readonly UserAction[] => [
  role === "admin" ? "make-member" : "make-administrator",
  status === "suspended" ? "resume" : "suspend",
  "end-logins",
  "password-link",
  "remove",
];

/** @throws DomainError `user.unchanged` if the user is in the wanted state already, after a change by somebody else */
export function refuseUnlessFitting(user: User, action: UserAction): void {
  if (user.status === "removed" || actionsFor(user).includes(action)) return;
  const state = {
    "make-administrator": "is an administrator already",
    "make-member": "is a member already",
    suspend: "is suspended already",
    resume: "is not suspended",
    "end-logins": "",
    "password-link": "",
    remove: "",
  }[action];
  throw new DomainError("conflict", "user.unchanged", `this user ${state}`);
}

export const actionPath = (id: string, action: UserAction): string => `${userPath(id)}/${action}`;

type Texts = Pick<Confirmation, "title" | "consequences" | "verb" | "command" | "api"> &
  Partial<Pick<Confirmation, "typed" | "isSevere">>;

const ENDS = "All logins of this person end now, and they sign in again.";

/** @returns the texts of the action; `invitations` is how many pending invitations it cancels */
function textsOf({ id, email }: User, action: UserAction, invitations: number): Texts {
  const path = `/admin/users/${id}`;
  const patch = (body: object) => ({ method: "PATCH", path, body }) as const;
  const canceled =
    invitations === 0
      ? []
      : [
          `${invitations === 1 ? "1 pending invitation" : `${invitations} pending invitations`} from this person will be canceled.`,
        ];
  const texts: Readonly<Record<UserAction, Texts>> = {
    "make-administrator": {
      title: `Make ${email} an administrator?`,
      consequences: [ENDS, "Administrators read and change everything in this installation."],
      verb: "Make administrator",
      isSevere: true,
      command: ["users", "set-role", email, "admin"],
      api: patch({ role: "admin" }),
    },
    "make-member": {
      title: `Make ${email} a member?`,
      consequences: [ENDS, "Members see only what is their own.", ...canceled],
      verb: "Make member",
      command: ["users", "set-role", email, "member"],
      api: patch({ role: "member" }),
    },
    suspend: {
      title: `Suspend ${email}?`,
      consequences: [
        "Their logins end. Their gateway key is revoked at the gateway as soon as it can be reached.",
        "Nothing is deleted. Resuming does not bring the logins back.",
        ...canceled,
      ],
      verb: "Suspend",
      command: ["users", "suspend", email],
      api: patch({ status: "suspended" }),
    },
    resume: {
      title: `Resume ${email}?`,
      consequences: ["They can sign in again with their old password. Earlier logins stay ended."],
      verb: "Resume",
      command: ["users", "resume", email],
      api: patch({ status: "active" }),
    },
    "end-logins": {
      title: `End all logins of ${email}?`,
      consequences: [
        "Every browser and every workstation of this person must sign in again.",
        "The account, its role and its gateway key stay.",
      ],
      verb: "End all logins",
      isSevere: true,
      command: ["logins", "revoke", "--user", email],
      api: { method: "POST", path: `${path}/sessions/revoke` },
    },
    "password-link": {
      title: `Make a link with which ${email} sets a password?`,
      consequences: [
        "The link is shown once and works once, for 24 hours. An earlier link stops working now.",
        "The password and the logins stay until the link is used.",
      ],
      verb: "Make link",
      command: ["users", "password-link", email],
      api: { method: "POST", path: `${path}/password-link` },
    },
    remove: {
      title: `Remove ${email}?`,
      consequences: [
        "They cannot sign in again unless invited anew. Their history, workstations and sessions stay.",
        ...canceled,
      ],
      verb: "Remove access",
      typed: email,
      isSevere: true,
      command: ["users", "remove", email],
      api: { method: "DELETE", path },
    },
  };
  return texts[action];
}

/** @returns the confirmation of an action */
export const userConfirmation = (
  user: User,
  { action, invitations, error }: { action: UserAction; invitations: number; error?: string },
): Confirmation => ({
  ...textsOf(user, action, invitations),
  action: actionPath(user.id, action),
  fields: { version: String(user.updatedAtMs) },
  back: userPath(user.id),
  error,
  trail: [
    { href: USERS_PATH, label: "Users" },
    { href: userPath(user.id), label: user.email },
  ],
});

/** @returns the message after an action */
export const doneText = ({ email }: User, action: Exclude<UserAction, "password-link">): string =>
  ({
    "make-administrator": `${email} is an administrator now. All their logins have ended.`,
    "make-member": `${email} is a member now. All their logins have ended.`,
    suspend: `${email} is suspended. All their logins have ended.`,
    resume: `${email} can sign in again.`,
    "end-logins": `All logins of ${email} have ended.`,
    remove: `${email} has no access any more.`,
  })[action];
