// The other reference of scim.ts, in a separate process: Bun.serve that looks up a user by name with one prepared
// statement and sends the same bytes as the service, without authentication and regardless of other parameters.
// Parameters are written as `+?`, otherwise SQLite compiles a join again for each value. Arguments: the database file,
// the id of the organization, the origin in the responses.

import {
  CORE_USER,
  ENDPOINTS,
  ENTERPRISE_USER,
  LIST_RESPONSE,
  SCIM_BASE_PATH,
} from "../../../src/domain/scim/wire.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";

const [file = "", organizationId = "", origin = ""] = process.argv.slice(2);
const base = origin + SCIM_BASE_PATH;
const connection = openConnection(file, { readonly: true });
const find = connection.prepare<Found, [string, string, string]>(`
  SELECT account_id AS id, version, created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs, doc,
    (SELECT json_group_array(json_object('value', id, '$ref', +? || id, 'display', display_name, 'type', 'direct')
                             ORDER BY display_name, id)
       FROM scim_group_members JOIN scim_groups ON scim_groups.sequence = group_sequence
       WHERE user_sequence = scim_users.sequence) AS groups
  FROM scim_users JOIN scim_user_revisions USING (sequence)
  WHERE scim_users.organization_id = +? AND user_name_key = +?`);

interface Found {
  id: string;
  version: number;
  createdAtMs: number;
  updatedAtMs: number;
  doc: string;
  groups: string;
}

const SCHEMAS = `"schemas":["${CORE_USER}","${ENTERPRISE_USER}"]`;
const EXTENSION = `,"${ENTERPRISE_USER}":{`;
const FOUND = `{"schemas":["${LIST_RESPONSE}"],"totalResults":1,"startIndex":1,"itemsPerPage":1,"Resources":[`;
const HEADERS = { "content-type": "application/scim+json" };
const BEFORE = "userName%20eq%20%22";
const AFTER = "%22";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    const name = decodeURIComponent(url.slice(url.indexOf(BEFORE) + BEFORE.length, -AFTER.length));
    const user = find.get(`${base}${ENDPOINTS.Group}/`, organizationId, name);
    return new Response(user && `${FOUND}${shown(user)}]}`, { headers: HEADERS });
  },
});
console.log(server.url.origin);

/** Every user of the benchmark has an extension, and groups come before it. */
function shown({ id, version, createdAtMs, updatedAtMs, doc, groups }: Found): string {
  const extensionAt = doc.indexOf(EXTENSION);
  const [created, modified] = [new Date(createdAtMs).toISOString(), new Date(updatedAtMs).toISOString()];
  return (
    `{${SCHEMAS},"id":"${id}",${doc.slice(1, extensionAt)},"groups":${groups}${doc.slice(extensionAt, -1)}` +
    `,"meta":{"resourceType":"User","created":"${created}","lastModified":"${modified}",` +
    `"version":"W/\\"${version}\\"","location":"${base}${ENDPOINTS.User}/${id}"}}`
  );
}
