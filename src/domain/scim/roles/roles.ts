// Roles follow groups: members of a group that maps to administrator are administrators, all other users are members. Every
// function works on sets. Identity owns the accounts and reports whose role changed.

import type { Tx } from "../../../platform/database/database.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { Role } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { ScimDependencies } from "../dependencies.ts";
import { inSlices, STEP_ROLES } from "../groups/member-slices.ts";
import type { GroupRow, ScimSettings } from "../model.ts";
import { foldCase } from "../schema/values.ts";
import * as store from "./roles-store.ts";

export type Roles = ReturnType<typeof createRoles>;

type RoleDependencies = Pick<ScimDependencies, "db" | "audit" | "accounts" | "settings">;

const BY_EXTERNAL_ID = "externalId:";

/** The parts of a group that a mapping uses. */
type MappedBy = Pick<GroupRow, "displayName" | "externalId">;

/**
 * The configured mapping of groups to roles: display names in their exact spelling, or `externalId:<value>`, which a rename
 * does not affect.
 * @source SCIM-23
 */
class RoleMapping {
  readonly #byName = new Map<string, Role>();
  readonly #byExternalId = new Map<string, Role>();
  /** a digest of the mapping that does not depend on the order of its entries */
  readonly digest: string;

  constructor(mapping: Readonly<Record<string, Role>>) {
    const entries = Object.entries(mapping).sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [key, role] of entries) {
      if (key.startsWith(BY_EXTERNAL_ID)) this.#byExternalId.set(key.slice(BY_EXTERNAL_ID.length), role);
      else this.#byName.set(key, role);
    }
    this.digest = sha256Hex(JSON.stringify(entries));
  }

  get isEmpty(): boolean {
    return this.#byName.size + this.#byExternalId.size === 0;
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get externalIds(): readonly string[] {
    return [...this.#byExternalId.keys()];
  }

  /** @returns the role of the group's members; `member` is the default */
  roleOf({ displayName, externalId }: MappedBy): Role {
    const roles = [this.#byName.get(displayName), externalId !== null && this.#byExternalId.get(externalId)];
    return roles.includes("admin") ? "admin" : "member";
  }
}

export function createRoles({ db, audit, accounts, settings }: RoleDependencies) {
  const mappingInForce = lastMade((given: ScimSettings["groupRoleMappings"]) => new RoleMapping(given));
  const mapping = (): RoleMapping => mappingInForce(settings.groupRoleMappings);

  const { mappedGroups, applyRoles } = createRoleChanges({ audit, accounts }, mapping);

  return {
    /** Whether any group gives a role; otherwise changes of groups do not affect accounts. */
    areMapped: (): boolean => !mapping().isEmpty,

    /** @returns the role of the group's members */
    roleOf: (group: MappedBy): Role => mapping().roleOf(group),

    /**
     * Gives these users the role of their groups, with one audit entry for each changed role.
     * @source SCIM-22, SCIM-24
     */
    *recompute(tx: Tx, { actor, userIds }: { actor: Actor; userIds: readonly string[] }): Steps<number> {
      let changed = 0;
      function* apply(some: readonly string[]): Steps<void> {
        yield; // the previous steps have used up their slice
        changed += applyRoles(tx, actor, some);
      }
      yield* inSlices(userIds, apply, STEP_ROLES);
      return changed;
    },

    /**
     * Applies a changed mapping to all users, at every start and reload; does nothing if it is unchanged.
     * @returns how many roles changed
     * @source SCIM-24
     */
    async applyMapping(actor: Actor): Promise<number> {
      const { organizationId } = actor;
      const { digest } = mapping();
      if (store.mappingDigest(db.read, organizationId) === digest) return 0;
      return await db.writeInSteps(function* (tx): Steps<number> {
        store.setMappingDigest(tx, { organizationId, digest });
        let changed = 0;
        for (let after: string | undefined = ""; after !== undefined; yield) {
          const userIds = store.userIdSlice(tx, { organizationId, after, limit: STEP_ROLES });
          changed += applyRoles(tx, actor, userIds);
          after = userIds[STEP_ROLES - 1];
        }
        return changed;
      }, "access");
    },

    /**
     * @returns a sentence for each entry of the mapping that matches no group
     * @source SCIM-23
     */
    warnings(organizationId: string): string[] {
      const groups = mappedGroups(db.read, organizationId);
      const { names, externalIds } = mapping();
      return [
        ...names.flatMap((name) => nameWarning(name, groups)),
        ...externalIds.flatMap((externalId) => externalIdWarning(externalId, groups)),
      ];
    },
  };
}

/** @returns the functions that read mapped groups and change roles in a transaction */
function createRoleChanges(
  { audit, accounts }: Pick<RoleDependencies, "audit" | "accounts">,
  mapping: () => RoleMapping,
) {
  const mappedGroups = (tx: Tx, organizationId: string): readonly store.MappedGroup[] => {
    const { names, externalIds } = mapping();
    return store.groupsOf(tx, { organizationId, nameKeys: names.map(foldCase), externalIds });
  };

  function setRole(tx: Tx, actor: Actor, change: { userIds: readonly string[]; role: Role }): number {
    const { userIds, role } = change;
    if (userIds.length === 0) return 0;
    const before = { role: role === "admin" ? "member" : "admin" };
    const changed = accounts.setRole(tx, { actor, userIds, role });
    audit.recordAll(tx, { actor, action: "user.update", targets: changed, before, after: { role } });
    return changed.length;
  }

  /** @returns how many roles changed */
  function applyRoles(tx: Tx, actor: Actor, userIds: readonly string[]): number {
    const mapped = mappedGroups(tx, actor.organizationId);
    const groups = mapped.filter((group) => mapping().roleOf(group) === "admin");
    const administrators = new Set(store.usersInAny(tx, { userIds, groups }));
    const others = userIds.filter((id) => !administrators.has(id));
    return (
      setRole(tx, actor, { userIds: [...administrators], role: "admin" }) +
      setRole(tx, actor, { userIds: others, role: "member" })
    );
  }

  return { mappedGroups, applyRoles };
}

/** @returns the function with its last result cached */
function lastMade<Given, Made>(make: (given: Given) => Made): (given: Given) => Made {
  let last: { given: Given; made: Made } | undefined;
  return (given) => {
    if (last?.given !== given) last = { given, made: make(given) };
    return last.made;
  };
}

function nameWarning(name: string, groups: readonly store.MappedGroup[]): string[] {
  if (groups.some(({ displayName }) => displayName === name)) return [];
  const quoted = JSON.stringify(name);
  const alike = groups.find(({ displayNameKey }) => displayNameKey === foldCase(name));
  if (!alike) return [`a role is mapped to the group ${quoted}, but no group has that name`];
  const present = JSON.stringify(alike.displayName);
  return [
    `a role is mapped to the group ${quoted}, but the group is named ${present}: use the same spelling`,
  ];
}

function externalIdWarning(externalId: string, groups: readonly store.MappedGroup[]): string[] {
  if (groups.some((group) => group.externalId === externalId)) return [];
  const quoted = JSON.stringify(externalId);
  return [`a role is mapped to the group with the external id ${quoted}, but no group has it`];
}
