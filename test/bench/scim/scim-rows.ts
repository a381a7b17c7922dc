// Inserts provisioned users, groups and memberships as rows directly into the database of a data directory: provisioning them
// through the service would take an hour. The domain itself computes the derived columns.

import { sql } from "drizzle-orm";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import { readUser } from "../../../src/domain/scim/messages/read-resource.ts";
import { foldCase } from "../../../src/domain/scim/schema/values.ts";
import {
  scimGroupMembers,
  scimGroups,
  scimOrganizations,
  scimUserEmails,
  scimUserRevisions,
  scimUsers,
} from "../../../src/domain/scim/tables.ts";
import { accountAddress, emailColumns, userColumns } from "../../../src/domain/scim/users/user-columns.ts";
import type { Tx } from "../../../src/platform/database/database.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { groupNameAt, userAt } from "./scim-plan.ts";

/** rows of one statement; SQLite allows 32,766 parameters */
const ROWS = 500;

export interface Size {
  users: number;
  /** members of each group, the first ones starting with the first user */
  groups: readonly number[];
}

export interface Provisioned {
  /** in order of creation */
  userIds: readonly string[];
  groupIds: readonly string[];
}

/** Fills a data directory in one transaction. @returns the ids */
export const provision = ({ db, organizationId }: ExistingInstallation, size: Size): Promise<Provisioned> =>
  db.write((tx) => {
    const userIds = idsOf(size.users);
    const groupIds = idsOf(size.groups.length);
    const place = { tx, organizationId, nowMs: Date.now() };
    addUsers(place, userIds);
    addGroups(place, groupIds, size.groups);
    addMembers(tx, size.users, size.groups);
    return { userIds, groupIds };
  });

const idsOf = (count: number): string[] => Array.from({ length: count }, () => systemIds.uuid());

interface Place {
  tx: Tx;
  organizationId: string;
  nowMs: number;
}

function addUsers({ tx, organizationId, nowMs }: Place, ids: readonly string[]): void {
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const people = ids.map((id, at) => {
    const { doc } = readUser(userAt(at));
    return { id, doc, address: accountAddress(doc) };
  });
  inChunks(people, (some) =>
    tx
      .insert(users)
      .values(
        some.map(({ id, address }) => ({
          id,
          organizationId,
          subject: id,
          email: address,
          emailKey: address,
          role: "member" as const,
          status: "active" as const,
          provisioningSource: "scim" as const,
          ...times,
        })),
      )
      .run(),
  );
  inChunks(people, (some) =>
    tx
      .insert(scimUsers)
      .values(
        some.map(({ id, doc, address }) => ({
          accountId: id,
          organizationId,
          createdAtMs: nowMs,
          ...userColumns(doc, address),
        })),
      )
      .run(),
  );
  tx.insert(scimOrganizations).values({ organizationId }).onConflictDoNothing().run();
  tx.run(sql`INSERT INTO ${scimUserRevisions} (sequence, organization_number, version, updated_at_ms)
    SELECT sequence, number, 1, created_at_ms FROM ${scimUsers}, ${scimOrganizations}`);
  inChunks(
    people.flatMap(({ id, doc }) =>
      emailColumns(doc).map((email, position) => ({ userId: id, position, organizationId, ...email })),
    ),
    (some) => tx.insert(scimUserEmails).values(some).run(),
  );
}

function addGroups(
  { tx, organizationId, nowMs }: Place,
  ids: readonly string[],
  sizes: readonly number[],
): void {
  const rows = ids.map((id, at) => ({
    id,
    organizationId,
    displayName: groupNameAt(at),
    displayNameKey: foldCase(groupNameAt(at)),
    memberCount: sizes[at] ?? 0,
    version: 1,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }));
  inChunks(rows, (some) => tx.insert(scimGroups).values(some).run());
}

/** The first group has the first users; the others share all users evenly. Sequences start at 1, for users and for groups. */
function addMembers(tx: Tx, userCount: number, sizes: readonly number[]): void {
  let next = 0;
  const memberships = sizes.flatMap((size, at) => {
    if (at === 1) next = 0;
    return Array.from({ length: size }, () => ({
      groupSequence: at + 1,
      userSequence: (next++ % userCount) + 1,
    }));
  });
  inChunks(memberships, (some) => tx.insert(scimGroupMembers).values(some).run());
}

function inChunks<Row>(rows: readonly Row[], insert: (some: Row[]) => void): void {
  for (let at = 0; at < rows.length; at += ROWS) insert(rows.slice(at, at + ROWS));
}
