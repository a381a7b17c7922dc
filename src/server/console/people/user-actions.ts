// Actions of administrators on one user: labels, the texts of the confirmation pages, and the equivalent commands.

import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import type { User } from "../../../domain/identity/model.ts";
import { countText } from "../../../platform/count-text.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Confirmation } from "../parts/form.tsx";
import { ChangedUser } from "./changed-user.tsx";
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

/** @throws DomainError `user.unchanged` if somebody else has already made the change */
export function requireApplicableAction(user: User, action: UserAction): void {
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

/** The user that an action's texts name. */
interface Target {
  email: string;
  path: string;
  /** a sentence about pending invitations that the action cancels; empty without any */
  canceled: readonly string[];
}

const patched = (path: string, body: object) => ({ method: "PATCH", path, body }) as const;

const TEXTS: Readonly<Record<UserAction, (target: Target) => Texts>> = {
  "make-administrator": ({ email, path }) => ({
    title: `Make ${email} an administrator?`,
    consequences: [ENDS, "Administrators read and change everything in this installation."],
    verb: "Make administrator",
    isSevere: true,
    command: ["users", "set-role", email, "admin"],
    api: patched(path, { role: "admin" }),
  }),
  "make-member": ({ email, path, canceled }) => ({
    title: `Make ${email} a member?`,
    consequences: [ENDS, "Members see only their own data.", ...canceled],
    verb: "Make member",
    command: ["users", "set-role", email, "member"],
    api: patched(path, { role: "member" }),
  }),
  suspend: ({ email, path, canceled }) => ({
    title: `Suspend ${email}?`,
    consequences: [
      "Their logins end. Their gateway key is revoked at the gateway as soon as it can be reached.",
      "Nothing is deleted. Resuming does not restore the logins.",
      ...canceled,
    ],
    verb: "Suspend",
    command: ["users", "suspend", email],
    api: patched(path, { status: "suspended" }),
  }),
  resume: ({ email, path }) => ({
    title: `Resume ${email}?`,
    consequences: ["They can sign in again with their old password. Earlier logins stay ended."],
    verb: "Resume",
    command: ["users", "resume", email],
    api: patched(path, { status: "active" }),
  }),
  "end-logins": ({ email, path }) => ({
    title: `End all logins of ${email}?`,
    consequences: [
      "Every browser and every workstation of this person must sign in again.",
      "The account, its role and its gateway key stay.",
    ],
    verb: "End all logins",
    isSevere: true,
    command: ["logins", "revoke", "--user", email],
    api: { method: "POST", path: `${path}/sessions/revoke` },
  }),
  "password-link": ({ email, path }) => ({
    title: `Create a link that lets ${email} set a password?`,
    consequences: [
      "Only the next page shows the link. It works once, for 24 hours. An earlier link stops working now.",
      "The password and the logins stay until the link is used.",
    ],
    verb: "Make link",
    command: ["users", "password-link", email],
    api: { method: "POST", path: `${path}/password-link` },
  }),
  remove: ({ email, path, canceled }) => ({
    title: `Remove ${email}?`,
    consequences: [
      "They cannot sign in again unless they are invited again. Their history, workstations and sessions stay.",
      ...canceled,
    ],
    verb: "Remove access",
    typed: email,
    isSevere: true,
    command: ["users", "remove", email],
    api: { method: "DELETE", path },
  }),
};

/** @returns the sentence about invitations that an action cancels; empty without any */
function canceledText(invitations: number): string[] {
  if (invitations === 0) return [];
  const count = countText(invitations, "pending invitation");
  return [`${count} from this person will be canceled.`];
}

interface UserConfirmation {
  action: UserAction;
  /** how many pending invitations the action cancels */
  invitations: number;
  /** idempotency key of the form: sending it again makes no second link */
  once: string;
  error?: string;
  /** the changes after the page of the refused form was opened, newest first */
  changes?: readonly NamedEntry[];
}

export const userConfirmation = (
  user: User,
  { action, invitations, once, error, changes }: UserConfirmation,
): Confirmation => {
  const texts = TEXTS[action]({
    email: user.email,
    path: `/admin/users/${user.id}`,
    canceled: canceledText(invitations),
  });
  return {
    ...texts,
    ...(changes && { changed: ChangedUser({ user, changes, verb: texts.verb }) }),
    action: actionPath(user.id, action),
    fields: { version: String(user.updatedAtMs), ...(action === "password-link" && { once }) },
    back: userPath(user.id),
    error,
    breadcrumbs: [
      { href: USERS_PATH, label: "Users" },
      { href: userPath(user.id), label: user.email },
    ],
  };
};

/** @returns the message after an action */
export const doneText = ({ email }: User, action: Exclude<UserAction, "password-link">): string =>
  ({
    "make-administrator": `${email} is an administrator now. All their logins have ended.`,
    "make-member": `${email} is a member now. All their logins have ended.`,
    suspend: `${email} is suspended. All their logins have ended.`,
    resume: `${email} can sign in again.`,
    "end-logins": `All logins of ${email} have ended.`,
    remove: `${email} no longer has access.`,
  })[action];
