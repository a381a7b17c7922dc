// The pages about people: users, invitations, groups, logins.
import { Elysia } from "elysia";
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { groupPages } from "./group-pages.ts";
import { invitationPages } from "./invitation-pages.ts";
import { loginPages } from "./login-pages.ts";
import { userActionPages } from "./user-action-pages.ts";
import { userBulkPages } from "./user-bulk-pages.ts";
import { userListPages } from "./user-list-pages.ts";
import { userPages } from "./user-pages.ts";

/** @returns all pages about people */
export const peoplePages = (context: RouteContext, console: Console) =>
  new Elysia({ name: "routes/console-people" })
    .use(userListPages(context, console))
    .use(userBulkPages(context, console))
    .use(userPages(context, console))
    .use(userActionPages(context, console))
    .use(invitationPages(context, console))
    .use(groupPages(context, console))
    .use(loginPages(context, console));
