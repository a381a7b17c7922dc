// A world with a search of users and groups that are inserted as rows; other tests provision them.
import { users } from "../../../../src/domain/identity/tables.ts";
import { GroupStreams } from "../../../../src/domain/scim/groups/group-streams.ts";
import { addMembers, findUsers } from "../../../../src/domain/scim/groups/members-store.ts";
import type {
  ListParameters,
  ScimCaller,
  ScimObject,
  ScimSettings,
} from "../../../../src/domain/scim/model.ts";
import { arrangedUser } from "../../../../src/domain/scim/schema/document.ts";
import { foldCase } from "../../../../src/domain/scim/schema/values.ts";
import { type ListJson, ScimSearch } from "../../../../src/domain/scim/search/search.ts";
import type { SearchScope } from "../../../../src/domain/scim/search/search-request.ts";
import { scimGroups } from "../../../../src/domain/scim/tables.ts";
import { emailColumns, userColumns } from "../../../../src/domain/scim/users/user-columns.ts";
import { insertUser, replaceEmails } from "../../../../src/domain/scim/users/users-store.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { openSnapshot } from "../../../../src/platform/database/snapshot.ts";
import { createWorld, type World } from "../../../support/world.ts";

export const BASE_URL = "https://host.example";

export interface ListResponse {
  totalResults: number;
  startIndex: number;
  itemsPerPage: number;
  Resources: (ScimObject & { id: string })[];
}

export interface SearchWorld extends World {
  readonly search: ScimSearch;
  readonly caller: ScimCaller;
  /** writes users with these documents @returns their ids, in order */
  addUsers(...docs: readonly ScimObject[]): Promise<string[]>;
  /** writes a group @returns its id */
  addGroup(displayName: string, members?: readonly string[], externalId?: string): Promise<string>;
  list(scope: SearchScope, parameters?: ListParameters): Promise<ListResponse>;
  /** @returns the ids of all resources that match a filter, by creation */
  found(scope: SearchScope, filter: string): Promise<string[]>;
}

/** @returns the whole text of a list */
export async function listText(list: ListJson | Promise<ListJson>): Promise<string> {
  const json = await list;
  return typeof json === "string" ? json : (await Array.fromAsync(json)).join("");
}

export async function createSearchWorld(
  given: Partial<Pick<ScimSettings, "pageMax" | "scanRowsMax">> = {},
): Promise<SearchWorld> {
  const world = await createWorld();
  const settings: ScimSettings = {
    baseUrl: () => BASE_URL,
    linkExisting: "by_address",
    pageMax: 200,
    scanRowsMax: 200_000,
    requestsPerSecond: 100,
    requestsBurst: 500,
    groupRoleMappings: {},
    ...given,
  };
  const open = () => openSnapshot(world.file);
  const streams = new GroupStreams(open);
  const search = new ScimSearch({ db: world.db, settings, openSnapshot: open, streams });
  const { organizationId } = world;
  const caller: ScimCaller = {
    actor: { kind: "scim", id: null, label: "scim:test", organizationId },
    profile: "standard",
  };
  const list = async (scope: SearchScope, parameters: ListParameters = {}): Promise<ListResponse> =>
    JSON.parse(await listText(search.list(caller, scope, parameters)));
  return Object.assign(world, {
    search,
    caller,
    addUsers: (...docs: readonly ScimObject[]) =>
      world.db.write((tx) => docs.map((doc) => addUser(world, tx, doc)), "access"),
    addGroup: (displayName: string, members: readonly string[] = [], externalId?: string) =>
      world.db.write((tx) => addGroup(world, tx, { displayName, members, externalId }), "provisioning"),
    list,
    found: async (scope: SearchScope, filter: string) => {
      const { totalResults, Resources } = await list(scope, { filter, count: settings.pageMax });
      if (totalResults !== Resources.length) throw new Error(`${totalResults} do not fit on a page`);
      return Resources.map(({ id }) => id);
    },
  });
}

function addUser({ ids, clock, organizationId }: World, tx: Tx, sent: ScimObject): string {
  const doc = arrangedUser(sent);
  const id = ids.uuid();
  const nowMs = clock.nowMs();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const address = `${id}@example.com`;
  tx.insert(users)
    .values({
      id,
      organizationId,
      subject: id,
      email: address,
      emailKey: address,
      role: "member",
      status: "active",
      provisioningSource: "scim",
      ...times,
    })
    .run();
  insertUser(tx, { organizationId, id, version: 1, ...times }, userColumns(doc, address));
  replaceEmails(tx, { organizationId, id }, emailColumns(doc));
  return id;
}

function addGroup(
  { ids, clock, organizationId }: World,
  tx: Tx,
  {
    displayName,
    members,
    externalId,
  }: { displayName: string; members: readonly string[]; externalId: string | undefined },
): string {
  const id = ids.uuid();
  const times = { createdAtMs: clock.nowMs(), updatedAtMs: clock.nowMs() };
  const names = { displayName, displayNameKey: foldCase(displayName), externalId: externalId ?? null };
  tx.insert(scimGroups)
    .values({ id, organizationId, ...names, memberCount: members.length, version: 1, ...times })
    .run();
  addMembers(tx, id, findUsers(tx, { organizationId, ids: members }));
  return id;
}
