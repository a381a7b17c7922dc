// The other reference of scim.ts, in a separate process: Bun.serve that looks up a user by name with one prepared statement and
// sends the same bytes as the service, without authentication and whatever else is requested. Parameters are written as `+?`,
// otherwise SQLite compiles a join again for each value. A POST creates a group in a copy of the database: only the durable rows of
// the service, with their indexes and the audit entry. Arguments: the database file, the id of the organization, the origin in the
// responses, and a file for the copy if there will be a POST.
import { createAudit } from "../../../src/domain/audit/service.ts";
import { insertGroup } from "../../../src/domain/scim/groups/groups-store.ts";
import { foldCase } from "../../../src/domain/scim/schema/values.ts";
import {
  CORE_GROUP,
  CORE_USER,
  ENDPOINTS,
  ENTERPRISE_USER,
  LIST_RESPONSE,
  SCIM_BASE_PATH,
} from "../../../src/domain/scim/wire.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { systemIds } from "../../../src/platform/ids.ts";

const [file = "", organizationId = "", origin = "", copy] = process.argv.slice(2);
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

if (copy !== undefined) connection.run("VACUUM INTO ?", [copy]);
const actor = {
  kind: "scim",
  id: null,
  label: "scim:configured",
  organizationId,
  requestId: systemIds.uuid(),
  address: "127.0.0.1",
  credential: "scim_token:configured",
} as const;
const recorded = (name: string) => ({
  display_name: name,
  external_id: null,
  members: 0,
  members_added: 0,
  members_removed: 0,
  added_ids: [],
  removed_ids: [],
});
const groups = copy === undefined ? undefined : openDatabase(copy);
const audit = createAudit({ clock: systemClock });

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { url } = request;
    if (request.method === "POST") return createGroup(request);
    const name = decodeURIComponent(url.slice(url.indexOf(BEFORE) + BEFORE.length, -AFTER.length));
    const user = find.get(`${base}${ENDPOINTS.Group}/`, organizationId, name);
    return new Response(user && `${FOUND}${shown(user)}]}`, { headers: HEADERS });
  },
});
console.log(server.url.origin);

async function createGroup(request: Request): Promise<Response> {
  const { displayName }: { displayName: string } = await request.json();
  const nowMs = Date.now();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const id = systemIds.uuid();
  const row = { id, organizationId, externalId: null, displayName, memberCount: 0, version: 1, ...times };
  await groups?.write((tx) => {
    insertGroup(tx, { ...row, displayNameKey: foldCase(displayName) });
    audit.record(tx, { actor, action: "scim_group.create", target: id, after: recorded(displayName) });
  }, "provisioning");
  const location = `${base}${ENDPOINTS.Group}/${id}`;
  const created = new Date(nowMs).toISOString();
  const meta = { resourceType: "Group", created, lastModified: created, version: 'W/"1"', location };
  const shown = { schemas: [CORE_GROUP], id, displayName, members: [], meta };
  return new Response(JSON.stringify(shown), { status: 201, headers: HEADERS });
}

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
