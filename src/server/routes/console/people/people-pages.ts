// The pages about people: users, invitations, groups, logins.
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { groupPages } from "./group-pages.ts";
import { invitationPages } from "./invitation-pages.ts";
import { loginPages } from "./login-pages.ts";
import { userActionPages } from "./user-action-pages.ts";
import { userBulkPages } from "./user-bulk-pages.ts";
import { userListPages } from "./user-list-pages.ts";
import { userPages } from "./user-pages.ts";

/** Adds all pages about people. */
export function peoplePages(context: RouteContext, console: Console): void {
  userListPages(context, console);
  userBulkPages(context, console);
  userPages(context, console);
  userActionPages(context, console);
  invitationPages(context, console);
  groupPages(context, console);
  loginPages(context, console);
}
