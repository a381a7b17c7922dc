// Texts of the confirmation pages of one invitation.
import type { Invitation } from "../../../domain/identity/model.ts";
import type { Confirmation } from "../parts/form.tsx";
import { INVITATIONS_PATH } from "./words.ts";

export const INVITATION_ACTIONS = ["new-link", "extend", "cancel"] as const;
export type InvitationAction = (typeof INVITATION_ACTIONS)[number];

export const INVITATION_ACTION_LABELS: Readonly<Record<InvitationAction, string>> = {
  "new-link": "New link",
  extend: "Extend",
  cancel: "Cancel",
};

export const invitationActionPath = (id: string, action: InvitationAction): string =>
  `${INVITATIONS_PATH}/${id}/${action}`;

type Texts = Pick<Confirmation, "title" | "consequences" | "verb" | "command" | "api">;

function textsOf({ id, email }: Invitation, action: InvitationAction): Texts {
  const path = `/admin/invitations/${id}`;
  const texts: Readonly<Record<InvitationAction, Texts>> = {
    "new-link": {
      title: `Make a new link for ${email}?`,
      consequences: [
        "The old one stops working now. Only the next page shows the new one, which works for 24 hours.",
      ],
      verb: "Make new link",
      command: ["invitations", "regenerate", id],
      api: { method: "POST", path: `${path}/regenerate` },
    },
    extend: {
      title: `Extend the invitation of ${email}?`,
      consequences: ["The link that you sent works for another 24 hours from now. It is not shown again."],
      verb: "Extend",
      command: ["invitations", "resend", id],
      api: { method: "POST", path: `${path}/resend` },
    },
    cancel: {
      title: `Cancel the invitation of ${email}?`,
      consequences: ["The link stops working now. The address can be invited again."],
      verb: "Cancel invitation",
      command: ["invitations", "cancel", id],
      api: { method: "DELETE", path },
    },
  };
  return texts[action];
}

/** @param once idempotency key: sending the form again makes no second link */
export const invitationConfirmation = (
  invitation: Invitation,
  action: InvitationAction,
  once: string,
): Confirmation => ({
  ...textsOf(invitation, action),
  action: invitationActionPath(invitation.id, action),
  fields: { once },
  back: INVITATIONS_PATH,
  breadcrumbs: [{ href: INVITATIONS_PATH, label: "Invitations" }],
});
