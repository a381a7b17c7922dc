// Provisioned users and groups as rows, for tests that only read them. Other tests provision users and groups.
import { sql } from "drizzle-orm";
import { users } from "../../../src/domain/identity/tables.ts";
import { ORGANIZATION_NUMBER } from "../../../src/domain/scim/organization-store.ts";
import { foldCase } from "../../../src/domain/scim/schema/values.ts";
import {
  scimGroupMembers,
  scimGroups,
  scimOrganizations,
  scimUserRevisions,
  scimUsers,
} from "../../../src/domain/scim/tables.ts";
import type { Db } from "../../../src/platform/database/database.ts";
import type { Ids } from "../../../src/platform/ids.ts";
import { START_MS } from "../world.ts";

interface Place {
  db: Db;
  ids: Ids;
  organizationId: string;
}

const TIMES = { createdAtMs: START_MS, updatedAtMs: START_MS };

/** @returns the id of a user of that name and address */
export async function addProvisionedUser(
  { db, ids, organizationId }: Place,
  userName: string,
  { active = true } = {},
): Promise<string> {
  const id = ids.uuid();
  const account = {
    id,
    organizationId,
    email: userName,
    emailKey: userName,
    subject: ids.uuid(),
    role: "member",
    status: active ? "active" : "suspended",
    protected: false,
    provisioningSource: "scim",
    ...TIMES,
  } as const;
  const resource = {
    accountId: id,
    organizationId,
    userName,
    userNameKey: foldCase(userName),
    active,
    label: userName,
    doc: "{}",
    docKey: "{}",
    createdAtMs: START_MS,
  };
  await db.write((tx) => {
    tx.insert(users).values(account).run();
    const { sequence } = tx
      .insert(scimUsers)
      .values(resource)
      .returning({ sequence: scimUsers.sequence })
      .get();
    tx.insert(scimOrganizations).values({ organizationId }).onConflictDoNothing().run();
    const revision = { sequence, organizationNumber: ORGANIZATION_NUMBER, version: 1, updatedAtMs: START_MS };
    tx.insert(scimUserRevisions).values(revision).prepare().run({ organizationId });
  });
  return id;
}

/** @returns the id of the group */
export async function addProvisionedGroup(
  { db, ids, organizationId }: Place,
  displayName: string,
  { externalId = null, members = [] }: { externalId?: string | null; members?: readonly string[] } = {},
): Promise<string> {
  const id = ids.uuid();
  const group = {
    id,
    organizationId,
    displayName,
    displayNameKey: foldCase(displayName),
    externalId,
    memberCount: members.length,
    version: 1,
    ...TIMES,
  };
  await db.write((tx) => {
    tx.insert(scimGroups).values(group).run();
    tx.run(sql`INSERT INTO ${scimGroupMembers} (group_sequence, user_sequence)
      SELECT (SELECT sequence FROM ${scimGroups} WHERE id = ${id}), sequence FROM ${scimUsers}
      WHERE account_id IN (SELECT value FROM json_each(${JSON.stringify(members)}))`);
  });
  return id;
}
