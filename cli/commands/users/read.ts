// `users list` and `users show`.
import { toAdminUser } from "../../../src/domain/identity/model.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printPages } from "../../output/list-pages.ts";
import { USER_COLUMNS, userText } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, actor, text } = call;
  const filter = { role: text("role"), status: text("status"), provisioningSource: text("source") };
  const { users } = domain.identity;
  const listing = { columns: USER_COLUMNS, json: toAdminUser, empty: "no users" };
  await printPages(
    call,
    (query, after) => users.list(actor.organizationId, { ...filter, ...query, after }),
    listing,
  );
}

export async function show({ domain, actor, output, args: [reference = ""] }: Call): Promise<void> {
  const user = domain.identity.users.find(actor.organizationId, reference);
  output.result(toAdminUser(user), userText(user));
}
