// Logins in the console: the list, ending one, and ending all of them.
import { readLoginQuery } from "../../../../domain/access/logins/login-document.ts";
import type { LoginView } from "../../../../domain/access/logins/logins.ts";
import { refuseProblems } from "../../../../domain/shared/page.ts";
import type { Problem } from "../../../../platform/errors.ts";
import type { Console } from "../../../console/console.ts";
import { csvRoute, walkCursors } from "../../../console/list/csv.ts";
import { found, listValues, type Values } from "../../../console/list/list.ts";
import { confirmationPage, isTypedNumber } from "../../../console/parts/form.tsx";
import { loginPage } from "../../../console/people/login-page.tsx";
import {
  END_ALL_PATH,
  endAllConfirmation,
  endLoginPage,
  LOGIN_COLUMNS,
  loginListPage,
} from "../../../console/people/login-pages.tsx";
import { LOGINS_PATH } from "../../../console/people/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { userIdOf } from "../fleet-queries.ts";
import { exportResponse } from "../lists/list-export.ts";

const Confirmed = formOf({ csrf: FormField, by: FormField });
const TypedCount = formOf({ csrf: FormField, by: FormField, count: FormField, typed: FormField });
const NEEDED = { needs: "administrator", back: LOGINS_PATH } as const;

export function loginPages({ router, domain }: RouteContext, console: Console) {
  const { logins } = domain.access;
  const userIn = createUserFilter(domain);

  router
    .get(
      LOGINS_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const values = listValues(reader);
          const { userId, problems: wrongUser } = await userIn(reader, values);
          const { kind, show, cursor, per_page: limit = "25" } = values;
          const { rows, problems } = await found(
            () => logins.list(readLoginQuery({ user_id: userId, kind, show, cursor, limit })),
            wrongUser,
          );
          const { mayAdminister } = reader;
          return loginListPage({ values, page: rows, problems, userId, mayAdminister });
        }),
      pageRoute("showLoginsPage", "Logins as a list"),
    )
    .get(
      `${LOGINS_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const values = listValues(reader);
          const { userId, problems } = await userIn(reader, values);
          refuseProblems("logins.invalid", problems);
          const { kind, show } = values;
          const pages = await walkCursors((cursor) =>
            logins.list(readLoginQuery({ user_id: userId, kind, show, cursor })),
          );
          return exportResponse(domain, reader, { list: "logins", columns: LOGIN_COLUMNS, pages });
        }),
      csvRoute("downloadLogins", "Logins as a CSV file"),
    );
  endLoginPages({ router, domain }, console);
}

function endLoginPages({ router, domain }: Pick<RouteContext, "router" | "domain">, console: Console) {
  const { logins } = domain.access;
  const reporterOf = (organizationId: string, { id, kind, user }: LoginView) =>
    kind === "grant" && user
      ? domain.clients.inventory.reporters({ organizationId, userId: user.id, grantIds: [id] }).get(id)
      : undefined;
  const endAll = ({ language }: Reader, error?: string) =>
    confirmationPage(endAllConfirmation({ count: logins.countLive(), language }, error));

  return router
    .get(
      END_ALL_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => endAll(reader)),
      pageRoute("showEndAllLoginsPage", "Asks before all logins are ended"),
    )
    .post(
      END_ALL_PATH,
      ({ request, body }) =>
        console.act(request, body, NEEDED, async (reader) => {
          if (!isTypedNumber(body.typed, Number(body.count)))
            return endAll(reader, "Type the number exactly as shown");
          if (logins.countLive() > Number(body.count))
            return endAll(reader, "There are more logins now. Type the new number");
          await logins.revokeEverything(reader.actor);
          return { to: LOGINS_PATH, notice: "All logins have ended." };
        }),
      formRoute(TypedCount, formOperation("sendEndAllLogins", "Ends every login of all users")),
    )
    .get(
      `${LOGINS_PATH}/:id`,
      ({ request, params }) =>
        console.show(request, "administrator", ({ organizationId, mayAdminister }) => {
          const login = logins.show(params.id);
          return loginPage(login, { mayAdminister, workstation: reporterOf(organizationId, login) });
        }),
      pageRoute("showLoginPage", "One login"),
    )
    .get(
      `${LOGINS_PATH}/:id/end`,
      ({ request, params }) =>
        console.show(request, "administrator", () => endLoginPage(logins.show(params.id))),
      pageRoute("showEndLoginPage", "Asks before one login is ended"),
    )
    .post(
      `${LOGINS_PATH}/:id/end`,
      ({ request, params, body }) =>
        console.act(request, body, NEEDED, async ({ actor }) => {
          const isEnded = await logins.revoke(actor, params.id);
          return {
            to: LOGINS_PATH,
            notice: isEnded ? "The login has ended." : "The login had already ended.",
          };
        }),
      formRoute(Confirmed, formOperation("sendEndLogin", "Ends one login and those that it approved")),
    );
}

/** @returns a function that finds the user of the filter by address or id; an unknown user is a problem of the filter */
const createUserFilter =
  (domain: RouteContext["domain"]) =>
  async ({ organizationId }: Reader, { user_id: text }: Values) => {
    const problems: Problem[] = [];
    const userId = await userIdOf(domain, { organizationId, text, problems, name: "user_id" });
    return { userId, problems };
  };
