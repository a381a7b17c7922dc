// The reader's logins, and the forms that end one of them or all others.
import { readLoginQuery } from "../../../../domain/access/logins/login-document.ts";
import type { LoginView } from "../../../../domain/access/logins/logins.ts";
import { invariant } from "../../../../platform/errors.ts";
import type { Console } from "../../../console/console.ts";
import { found, listValues, type Values } from "../../../console/list/list.ts";
import {
  endLoginPage,
  endOtherLoginsPage,
  type OwnLogin,
  ownLoginsPage,
} from "../../../console/own/own-logins.tsx";
import { OWN_LOGINS_PATH } from "../../../console/own/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import { countText } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";

const Form = formOf({ csrf: FormField, by: FormField });
/** Default number of rows per page. */
export const ROWS_SHOWN = 25;

/** @returns functions that read the reader's logins */
function createOwnLogins({ domain }: Pick<RouteContext, "domain">) {
  const { ownLogins } = domain.access;

  const withHosts = ({ organizationId, visitor }: Reader, logins: readonly LoginView[]): OwnLogin[] => {
    const { userId } = visitor.principal;
    const grantIds = logins.flatMap(({ kind, id }) => (kind === "grant" ? [id] : []));
    const reporters = domain.clients.inventory.reporters({ organizationId, userId, grantIds });
    const approved = ownLogins.countApproved(logins.map(({ id }) => id));
    return logins.map((login) => ({
      ...login,
      hostname: reporters.get(login.id)?.hostname ?? undefined,
      through: login.method === "oidc" ? domain.sso.settings()?.providerName : undefined,
      approved: approved.get(login.id) ?? 0,
      isCurrent: login.id === visitor.sessionId,
    }));
  };

  return {
    list(reader: Reader, { kind, cursor, per_page: limit = String(ROWS_SHOWN) }: Values) {
      const { items, next } = ownLogins.list(reader.actor, readLoginQuery({ kind, cursor, limit }));
      return { items: withHosts(reader, items), next };
    },
    /** @throws DomainError `login.not_found` */
    show(reader: Reader, id: string): OwnLogin {
      const [login] = withHosts(reader, [ownLogins.show(reader.actor, id.toLowerCase())]);
      invariant(login, "the id selects one login");
      return login;
    },
    counts({ actor }: Reader) {
      const { loginSessions: browsers, grants: workstations } = ownLogins.count(actor);
      return { browsers, workstations };
    },
  };
}

export function ownConsoleLoginPages(context: RouteContext, console: Console) {
  const logins = createOwnLogins(context);

  return context.router
    .get(
      OWN_LOGINS_PATH,
      ({ request }) =>
        console.show(request, "anyone", async (reader) => {
          const values = listValues(reader);
          const { email } = reader.visitor.principal;
          const { rows: page, problems } = await found(() => logins.list(reader, values));
          return ownLoginsPage({ email, values, page, problems });
        }),
      pageRoute("showOwnLogins", "The reader's logins as a list"),
    )
    .get(
      `${OWN_LOGINS_PATH}/:id/end`,
      ({ request, params }) =>
        console.show(request, "anyone", (reader) => endLoginPage(logins.show(reader, params.id))),
      pageRoute("showEndOwnLogin", "Asks before one login ends"),
    )
    .get(
      `${OWN_LOGINS_PATH}/end-others`,
      ({ request }) =>
        console.show(request, "anyone", (reader) => {
          const { principal, sessionId } = reader.visitor;
          return endOtherLoginsPage({ ...logins.counts(reader), email: principal.email, sessionId });
        }),
      pageRoute("showEndOtherLogins", "Asks before all other logins end"),
    );
}

export function endOwnLoginForms({ router, domain }: RouteContext, console: Console) {
  const { ownLogins } = domain.access;
  const action = { needs: "anyone", back: OWN_LOGINS_PATH } as const;

  return router
    .post(
      `${OWN_LOGINS_PATH}/:id/end`,
      ({ request, params, body }) =>
        console.act(request, body, action, async ({ actor, visitor }) => {
          await ownLogins.end(actor, params.id.toLowerCase());
          const to = params.id.toLowerCase() === visitor.sessionId ? "/sign-out" : OWN_LOGINS_PATH;
          return { to, notice: "The login has ended." };
        }),
      formRoute(Form, formOperation("sendEndOwnLogin", "Ends one login of the reader")),
    )
    .post(
      `${OWN_LOGINS_PATH}/end-others`,
      ({ request, body }) =>
        console.act(request, body, action, async ({ actor, visitor }) => {
          const { loginSessions, grants } = await ownLogins.endOthers(actor, visitor.sessionId);
          const ended = [countText(loginSessions, "other browser"), countText(grants, "workstation")];
          return { to: OWN_LOGINS_PATH, notice: `Signed out: ${ended.join(" and ")}.` };
        }),
      formRoute(Form, formOperation("sendEndOtherLogins", "Ends every login of the reader except this one")),
    );
}
