// Suspends and resumes many users, ends their logins and changes their roles in the console.
import {
  BULK_USER_ACTIONS,
  type BulkUserAction,
  type UserSelection,
} from "../../../../domain/identity/users/bulk-changes.ts";
import { refuseProblems } from "../../../../domain/shared/page.ts";
import type { Console } from "../../../console/console.ts";
import type { Values } from "../../../console/list/list.ts";
import { actionPath } from "../../../console/people/user-actions.ts";
import { SINGLE_ACTIONS, USER_BULK, userBulkEquivalents } from "../../../console/people/user-bulk.ts";
import { USER_FILTERS } from "../../../console/people/user-list.tsx";
import { formOperation, formRoute, pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { BULK_FORM, type Bulk, BulkActions } from "../lists/bulk.ts";
import { createUserQuery } from "./user-list-pages.ts";

/** A selection, with the filters of the address for the equivalent command. */
type Chosen = UserSelection & { values?: Values };

/** @returns the confirmation of an action on many users, and the action */
export function userBulkPages({ router, domain }: RouteContext, console: Console) {
  const { bulkChanges } = domain.identity;
  const queryOf = createUserQuery(domain);

  const bulk: Bulk<BulkUserAction, Chosen> = {
    view: USER_BULK,
    acts: BULK_USER_ACTIONS,
    filters: USER_FILTERS,
    async selectionOf(reader, chosen) {
      if ("ids" in chosen) return chosen;
      const { query, problems } = queryOf(chosen.values, reader);
      refuseProblems("identity.invalid", problems);
      return { filter: query, text: chosen.text, values: chosen.values };
    },
    count: ({ organizationId }, selection) => bulkChanges.count(organizationId, selection),
    slice: ({ actor }, { act: action, ...slice }) => bulkChanges.slice(actor, { action, ...slice }),
    equivalents: ({ act, count, selection, rows }) =>
      userBulkEquivalents(
        act,
        selection.ids
          ? { ids: selection.ids, addresses: rows.map(({ id, name }) => name ?? id) }
          : { values: selection.values ?? {}, expected: count },
      ),
    confirmOne: (_, act, id) => seeOther(actionPath(id, SINGLE_ACTIONS[act])),
  };
  const actions = new BulkActions(bulk);

  return router
    .get(
      USER_BULK.path,
      ({ request }) => console.show(request, "administrator", (reader) => actions.confirm(reader)),
      pageRoute("showUsersActionPage", "Asks before an action on many users"),
    )
    .post(
      USER_BULK.path,
      ({ request, body }) =>
        console.act(request, body, { needs: "administrator", back: USER_BULK.listPath }, (reader) =>
          actions.run(reader, body),
        ),
      formRoute(BULK_FORM, formOperation("sendUsersAction", "Changes the roles or access of many users")),
    );
}
