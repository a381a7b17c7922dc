// Actions of administrators on one user in the console: a confirmation page for each action, and the action itself.
import { passwordUrl, type User } from "../../../../domain/identity/model.ts";
import { readWord } from "../../../../domain/shared/page.ts";
import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import { confirmationPage } from "../../../console/parts/form.tsx";
import { removedUserPage } from "../../../console/people/changed-user.tsx";
import { endedLinkPage, linkPage } from "../../../console/people/link-page.tsx";
import {
  doneText,
  requireApplicableAction,
  USER_ACTIONS,
  type UserAction,
  userConfirmation,
} from "../../../console/people/user-actions.ts";
import { USERS_PATH, userPath } from "../../../console/people/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { HttpError } from "../../../http/problems/problem.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { createActionCheck } from "./user-pages.ts";

const Confirmed = formOf({
  csrf: FormField,
  by: FormField,
  version: FormField,
  once: FormField,
  typed: FormField,
});
/** Maximum delay between a change of the user and its audit entry. It excludes the entry of the version itself. */
const RECORDED_WITHIN_MS = 1_000;
/** Number of audit entries to search for changes of a user. */
const ENTRIES_READ = 20;

/** @returns the confirmation pages and the actions on one user */
export function userActionPages(context: RouteContext, console: Console) {
  const { auditLog } = context.domain;
  const { users } = context.domain.identity;
  const checkAction = createActionCheck(context.domain.identity);
  const perform = createPerform(context);

  const confirmationOf = (user: User, action: UserAction, refused: Refused = {}): ConsolePage => {
    const invitations = users.countSentInvitations(user.organizationId, user.id);
    const once = crypto.randomUUID();
    return confirmationPage(userConfirmation(user, { action, invitations, once, ...refused }));
  };

  /** Asks again with the changes since the version. @throws DomainError `user.unchanged` */
  const changedPage = (
    { id, organizationId }: User,
    { action, version }: Pick<UserActionRequest, "action" | "version">,
  ): ConsolePage => {
    const user = users.show(organizationId, id);
    if (user.status === "removed") return removedPageOf(user);
    requireApplicableAction(user, action);
    const sinceMs = /^\d{1,15}$/.test(version ?? "") ? Number(version) + RECORDED_WITHIN_MS : undefined;
    const { items } = auditLog.listByKey(organizationId, { target: id, sinceMs, limit: ENTRIES_READ });
    return confirmationOf(user, action, { changes: items });
  };

  const removedPageOf = ({ id, organizationId, ...user }: User): ConsolePage => {
    const { items } = auditLog.listByKey(organizationId, { target: id, action: "user.remove", limit: 1 });
    return removedUserPage({ id, email: user.email, removal: items[0] });
  };

  return context.router
    .get(
      `${USERS_PATH}/:id/:action`,
      ({ request, params }) =>
        console.show(request, "administrator", (reader) => {
          const action = actionIn(params.action);
          const user = users.show(reader.organizationId, params.id.toLowerCase());
          if (user.status === "removed") return removedPageOf(user);
          checkAction(reader, user, action);
          requireApplicableAction(user, action);
          return confirmationOf(user, action);
        }),
      pageRoute("showUserActionPage", "Asks before an action on a user"),
    )
    .post(
      `${USERS_PATH}/:id/:action`,
      ({ request, params, body }) => {
        const needed = { needs: "administrator", back: userPath(params.id.toLowerCase()) } as const;
        return console.act(request, body, needed, async (reader) => {
          const action = actionIn(params.action);
          const user = users.show(reader.organizationId, params.id.toLowerCase());
          if (user.status === "removed") return removedPageOf(user);
          checkAction(reader, user, action);
          requireApplicableAction(user, action);
          if (action === "remove" && body.typed?.trim() !== user.email)
            return confirmationOf(user, action, { error: "Type the address exactly as shown" });
          try {
            return await perform(reader, user, { action, once: body.once, version: body.version });
          } catch (error) {
            if (!(error instanceof UserChanged)) throw error;
            return changedPage(user, { action, version: body.version });
          }
        });
      },
      formRoute(Confirmed, formOperation("sendUserAction", "Changes the role or access of a user")),
    );
}

function actionIn(text: string): UserAction {
  const action = readWord(text, { name: "action", words: USER_ACTIONS, problems: [] });
  if (action === undefined) throw new HttpError(404, "console.no_page", "there is no such page");
  return action;
}

type Refused = Pick<Parameters<typeof userConfirmation>[1], "error" | "changes">;

class UserChanged extends DomainError {
  constructor() {
    super("conflict", "user.changed", "this user was changed after the page was opened");
  }
}

interface UserActionRequest {
  action: UserAction;
  /** version of the user when the form was made */
  version: string | undefined;
  /** idempotency key of the form */
  once: string | undefined;
}

/** @returns a function that runs the action, and throws UserChanged if the user has changed since the confirmation page */
function createPerform({ domain, baseUrl }: RouteContext) {
  const { users, passwordLinks } = domain.identity;

  return async (
    { actor }: Reader,
    user: User,
    { action, once, version }: UserActionRequest,
  ): Promise<Done | ConsolePage> => {
    const { id } = user;
    const expect = ({ updatedAtMs }: User): void => {
      if (String(updatedAtMs) !== version) throw new UserChanged();
    };
    expect(user);
    if (action === "password-link") {
      const { token, expiresAtMs } = await passwordLinks.create(actor, id, { idempotencyKey: once });
      const shown = { title: "Link to set a password", back: { href: userPath(id), label: user.email } };
      if (!passwordLinks.findUser(token)) return endedLinkPage(shown);
      return linkPage({
        ...shown,
        children: `This link lets ${user.email} set a new password.`,
        link: passwordUrl(baseUrl(), token).reveal(),
        expiresAtMs,
      });
    }
    const doing: Readonly<Record<Exclude<UserAction, "password-link">, () => Promise<unknown>>> = {
      "make-administrator": () => users.update(actor, id, { role: "admin", expect }),
      "make-member": () => users.update(actor, id, { role: "member", expect }),
      suspend: () => users.update(actor, id, { status: "suspended", expect }),
      resume: () => users.update(actor, id, { status: "active", expect }),
      "end-logins": () => users.revokeLogins(actor, id),
      remove: () => users.remove(actor, id, expect),
    };
    await doing[action]();
    return { to: userPath(id), notice: doneText(user, action) };
  };
}
