// `users list` and `users show`.
import { NOT_SEEN_DAYS_MAX } from "../../../src/domain/clients/limits.ts";
import type { UserQuery } from "../../../src/domain/identity/directory/user-directory.ts";
import { toAdminUser } from "../../../src/domain/identity/model.ts";
import { readUserFilters } from "../../../src/domain/user-filters.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { parseWholeNumber } from "../../input/whole-number.ts";
import { printPages } from "../../output/list-pages.ts";
import { USER_COLUMNS, userText } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, actor } = call;
  const filter = filterOf(call);
  const { users } = domain.identity;
  const listing = { columns: USER_COLUMNS, json: toAdminUser, empty: "no users" };
  await printPages(
    call,
    (query, after) => users.list(actor.organizationId, { ...filter, ...query, after }),
    listing,
  );
}

/** @returns the options that select users, without `--q`; undefined for those that were not given */
export function filterOf({ domain, actor, text }: Call): UserQuery {
  const days = { max: NOT_SEEN_DAYS_MAX };
  const more = {
    group: text("group"),
    workstations: text("workstations"),
    notSeenForDays: parseWholeNumber("--not-seen-for-days", text("notSeenForDays"), days),
  };
  return {
    role: text("role"),
    status: text("status"),
    provisioningSource: text("source"),
    ...readUserFilters(domain, { organizationId: actor.organizationId, ...more }),
  };
}

export async function show({ domain, actor, output, args: [reference = ""] }: Call): Promise<void> {
  const user = domain.identity.users.find(actor.organizationId, reference);
  output.result(toAdminUser(user), userText(user));
}
