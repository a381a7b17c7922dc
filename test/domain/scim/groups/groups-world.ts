// A world with groups and roles of real accounts. Users are inserted as rows, in bulk; other tests provision them.
import { and, asc, eq, sql } from "drizzle-orm";
import type { AuditSummary } from "../../../../src/domain/audit/service.ts";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import type { IdentitySettings, Role } from "../../../../src/domain/identity/service.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import type { ScimDependencies } from "../../../../src/domain/scim/dependencies.ts";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { GroupStreams } from "../../../../src/domain/scim/groups/group-streams.ts";
import { ScimGroups } from "../../../../src/domain/scim/groups/groups.ts";
import type { GroupRow, ScimCaller, ScimResponse } from "../../../../src/domain/scim/model.ts";
import { createRoles, type Roles } from "../../../../src/domain/scim/roles/roles.ts";
import {
  scimGroupMembers,
  scimGroups,
  scimOrganizations,
  scimUserRevisions,
  scimUsers,
} from "../../../../src/domain/scim/tables.ts";
import { PATCH_OP } from "../../../../src/domain/scim/wire.ts";
import { openSnapshot } from "../../../../src/platform/database/snapshot.ts";
import { createIdentityWorld, type IdentityWorld } from "../../../support/identity-world.ts";

export const BASE_URL = "https://host.example";

export interface GroupsWorld extends IdentityWorld {
  groups: ScimGroups;
  roles: Roles;
  caller: ScimCaller;
  dependencies: ScimDependencies;
  /** the same database with another mapping, as after a restart */
  withMapping(mapping: IdentitySettings["groupRoleMappings"]): { groups: ScimGroups; roles: Roles };
}

export async function createGroupsWorld(
  groupRoleMappings: IdentitySettings["groupRoleMappings"] = {},
): Promise<GroupsWorld> {
  const world = await createIdentityWorld({ groupRoleMappings });
  const dependenciesWith = (mapping: IdentitySettings["groupRoleMappings"]): ScimDependencies => ({
    ...world,
    accounts: world.identity.provisioned,
    groupsChanged: undefined,
    settings: {
      baseUrl: () => BASE_URL,
      linkExisting: "by_address",
      pageMax: 200,
      scanRowsMax: 200_000,
      requestsPerSecond: 100,
      requestsBurst: 500,
      groupRoleMappings: mapping,
    },
  });
  const withMapping: GroupsWorld["withMapping"] = (mapping) => {
    const dependencies = dependenciesWith(mapping);
    const roles = createRoles(dependencies);
    const streams = new GroupStreams(() => openSnapshot(world.file));
    const groups = new ScimGroups({ ...dependencies, roles, streams });
    return { groups, roles };
  };
  const { organizationId } = world;
  const caller: ScimCaller = {
    actor: { kind: "scim", id: null, label: "scim:test", organizationId },
    profile: "standard",
  };
  const dependencies = dependenciesWith(groupRoleMappings);
  return Object.assign(world, { ...withMapping(groupRoleMappings), caller, dependencies, withMapping });
}

/** Inserts provisioned users. @returns their ids, in order */
export async function addScimUsers(
  { db, organizationId, ids }: Pick<GroupsWorld, "db" | "organizationId" | "ids">,
  count: number,
  name = "user",
): Promise<string[]> {
  const made = Array.from({ length: count }, () => ids.uuid());
  const people = JSON.stringify(made.map((id, at) => ({ id, name: `${name}${at}` })));
  const person = (part: string) => sql.raw(`value ->> '${part}'`);
  await db.write((tx) => {
    tx.run(sql`INSERT INTO ${users} (id, organization_id, subject, email, email_key, role, status,
        provisioning_source, created_at_ms, updated_at_ms)
      SELECT ${person("id")}, ${organizationId}, ${person("id")}, (${person("name")}) || '@example.com',
        (${person("name")}) || '@example.com', 'member', 'active', 'scim', 0, 0 FROM json_each(${people})`);
    tx.run(sql`INSERT INTO ${scimUsers} (account_id, organization_id, user_name, user_name_key, active, display, label,
        created_at_ms, doc, doc_key)
      SELECT ${person("id")}, ${organizationId}, ${person("name")}, ${person("name")}, 1, 'Label ' || (${person("name")}),
        'Label ' || (${person("name")}), 0, '{}', '{}' FROM json_each(${people})`);
    tx.insert(scimOrganizations).values({ organizationId }).onConflictDoNothing().run();
    tx.run(sql`INSERT INTO ${scimUserRevisions} (sequence, organization_number, version, updated_at_ms)
      SELECT sequence, number, 1, 0 FROM ${scimUsers}, ${scimOrganizations} WHERE account_id IN
        (SELECT ${person("id")} FROM json_each(${people}))`);
  });
  return made;
}

export const patchOf = (...operations: readonly object[]) => ({
  schemas: [PATCH_OP],
  Operations: operations,
});

export const membersOf = (ids: readonly string[]) => ids.map((value) => ({ value }));

/** @returns the group as stored in the database */
export function storedGroup({ db }: GroupsWorld, id: string): GroupRow & { members: string[] } {
  const [row] = db.read.select().from(scimGroups).where(eq(scimGroups.id, id)).limit(1).all();
  if (!row) throw new Error(`no group ${id}`);
  const members = db.read
    .select({ id: scimUsers.accountId })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, eq(scimUsers.sequence, scimGroupMembers.userSequence))
    .where(eq(scimGroupMembers.groupSequence, row.sequence))
    .orderBy(asc(scimUsers.accountId))
    .all();
  return { ...row, members: members.map((member) => member.id) };
}

/** @returns the versions of these users, in the given order */
export function versionsOf({ db }: GroupsWorld, ids: readonly string[]): number[] {
  const rows = db.read
    .select({ id: scimUsers.accountId, version: scimUserRevisions.version })
    .from(scimUsers)
    .innerJoin(scimUserRevisions, eq(scimUserRevisions.sequence, scimUsers.sequence))
    .all();
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  return ids.map((id) => versions.get(id) ?? 0);
}

/** @returns the roles of these users, in the given order */
export function rolesOf({ db }: GroupsWorld, ids: readonly string[]): (Role | undefined)[] {
  const rows = db.read.select({ id: users.id, role: users.role }).from(users).all();
  const roles = new Map(rows.map(({ id, role }) => [id, role]));
  return ids.map((id) => roles.get(id));
}

/** @returns the entries of an action, oldest first */
export function auditOf(
  { db }: GroupsWorld,
  action: string,
): { target: string; actor: string; before: AuditSummary | null; after: AuditSummary | null }[] {
  return db.read
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.action, action)))
    .orderBy(asc(auditEntries.id))
    .all()
    .map(({ target, actorLabel, before, after }) => ({
      target,
      actor: actorLabel,
      before: before === null ? null : JSON.parse(before),
      after: after === null ? null : JSON.parse(after),
    }));
}

/** @returns the whole text of a response */
export async function textOf({ json }: ScimResponse): Promise<string> {
  if (json === undefined || typeof json === "string") return json ?? "";
  return (await Array.fromAsync(json)).join("");
}

/** @returns status, scimType and detail of the refusal */
export async function refusalOf(
  work: () => unknown,
): Promise<{ status: number; scimType: unknown; detail: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ScimError)
      return { status: error.status, scimType: error.scimType, detail: error.message };
    throw error;
  }
  throw new Error("this was not refused");
}
