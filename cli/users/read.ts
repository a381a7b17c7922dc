// `users list` and `users show`.
import { toAdminUser } from "../../src/domain/identity/model.ts";
import type { Call } from "../in-domain.ts";
import { readPages } from "../pages.ts";
import { USER_COLUMNS, userText } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, actor, output, text } = call;
  const filter = { role: text("role"), status: text("status"), provisioningSource: text("source") };
  const { items, total } = readPages(call, (query) =>
    domain.identity.users.list(actor.organizationId, { ...filter, ...query }),
  );
  output.list(items, { columns: USER_COLUMNS, json: toAdminUser, empty: "no users" }, { total });
}

export async function show({ domain, actor, output, args: [reference = ""] }: Call): Promise<void> {
  const user = domain.identity.users.find(actor.organizationId, reference);
  output.result(toAdminUser(user), userText(user));
}
