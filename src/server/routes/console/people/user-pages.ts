// The page of one user in the console.
import type { LoginView } from "../../../../domain/access/logins/logins.ts";
import type { User } from "../../../../domain/identity/model.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { actionsFor, type UserAction } from "../../../console/people/user-actions.ts";
import { userPage } from "../../../console/people/user-page.tsx";
import { USERS_PATH } from "../../../console/people/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

/** Number of workstations, logins and audit entries on the page; links lead to the complete lists. */
const ROWS_SHOWN = 5;

export function userPages({ router, domain }: RouteContext, console: Console) {
  const { identity, governance, gateway, access, auditLog, clients, scim } = domain;
  const checkAction = createActionCheck(identity);

  const packagesOf = ({ organizationId, id }: User) => {
    const revision = governance.revisions.current(organizationId);
    if (!revision) return { shown: 0, hidden: [] };
    const hidden = governance.hiddenFrom(id, revision);
    return { shown: revision.document.packages.length - hidden.length, hidden };
  };

  return router.get(
    `${USERS_PATH}/:id`,
    ({ request, params }) =>
      console.show(request, "administrator", async (reader) => {
        const { organizationId } = reader;
        const user = identity.users.show(organizationId, params.id.toLowerCase());
        const wanted = { userId: user.id, perPage: ROWS_SHOWN };
        const workstations = await runInTurns(clients.inventory.summaries(organizationId, wanted));
        const logins = access.logins.list({ userId: user.id, limit: ROWS_SHOWN });
        const entries = { limit: ROWS_SHOWN };
        return userPage({
          user,
          actions: actionsOf(reader, user, checkAction),
          workstations: { rows: workstations.items, hasMore: workstations.next !== null },
          logins: someOf(logins),
          key: gateway.mode && gateway.directory.show(user),
          groups: scim.directory.groupsOf(user.id),
          packages: packagesOf(user),
          invitations: identity.users.countSentInvitations(organizationId, user.id),
          sessions: domain.sessions.lists.countOwn({ organizationId, userId: user.id }),
          about: auditLog.listByKey(organizationId, { ...entries, target: user.id }).items,
          by: auditLog.listByKey(organizationId, { ...entries, actor: user.id }).items,
        });
      }),
    pageRoute("showUserPage", "One user"),
  );
}

const someOf = ({ items, next }: { items: readonly LoginView[]; next: string | null }) => ({
  rows: items,
  hasMore: next !== null,
});

type CheckAction = ReturnType<typeof createActionCheck>;

/** @returns a function that throws the error of the action without changing anything */
export const createActionCheck =
  ({ users, passwordLinks }: RouteContext["domain"]["identity"]) =>
  ({ actor }: Pick<Reader, "actor">, { id }: User, action: UserAction): void => {
    const check: Readonly<Record<UserAction, () => void>> = {
      "make-administrator": () => users.checkUpdate(actor, id, { role: "admin" }),
      "make-member": () => users.checkUpdate(actor, id, { role: "member" }),
      suspend: () => users.checkUpdate(actor, id, { status: "suspended" }),
      resume: () => users.checkUpdate(actor, id, { status: "active" }),
      "end-logins": () => users.checkRevokeLogins(actor, id),
      "password-link": () => passwordLinks.checkCreate(actor, id),
      remove: () => users.checkRemove(actor, id),
    };
    check[action]();
  };

function actionsOf(reader: Reader, user: User, checkAction: CheckAction) {
  if (!reader.mayAdminister) return [];
  const actions = user.status === "removed" ? [] : actionsFor(user);
  return actions.map((action) => ({ action, refusal: refusalOf(() => checkAction(reader, user, action)) }));
}

/** @returns the reason of the refusal; undefined if the action is possible */
function refusalOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "conflict") throw error;
    return error.message;
  }
}
