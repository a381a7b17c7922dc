// The other reference of scim.ts, a process of its own: Bun.serve that looks a user up by name with one prepared statement
// and sends what is stored, in a list, to anybody.
// Arguments: the database file, the id of the organization.

import { LIST_RESPONSE } from "../../src/domain/scim/wire.ts";
import { openConnection } from "../../src/platform/database/connection.ts";

const [file = "", organizationId = ""] = process.argv.slice(2);
const connection = openConnection(file, { readonly: true });
const find = connection.prepare<{ doc: string }, [string, string]>(
  "SELECT doc FROM scim_users WHERE organization_id = ? AND user_name_key = ?",
);
const HEADERS = { "content-type": "application/scim+json" };
const BEFORE = "userName%20eq%20%22";
const AFTER = "%22";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    const name = url.slice(url.indexOf(BEFORE) + BEFORE.length, -AFTER.length);
    const found = find.get(organizationId, decodeURIComponent(name));
    const count = found ? 1 : 0;
    return new Response(
      `{"schemas":["${LIST_RESPONSE}"],"totalResults":${count},"startIndex":1,"itemsPerPage":${count},` +
        `"Resources":[${found?.doc ?? ""}]}`,
      { headers: HEADERS },
    );
  },
});
console.log(server.url.origin);
