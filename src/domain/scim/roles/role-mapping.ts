// The configured mapping of groups to roles: display names in their exact spelling, or `externalId:<value>`, which a rename
// does not affect. Pure; roles.ts computes the roles of users.
import { sha256Hex } from "../../../platform/ids.ts";
import type { Role } from "../../identity/service.ts";
import type { GroupRow } from "../model.ts";

const BY_EXTERNAL_ID = "externalId:";

/** The parts of a group that a mapping uses. */
export type MappedBy = Pick<GroupRow, "displayName" | "externalId">;

/** @source SCIM-23 */
export class RoleMapping {
  readonly #byName = new Map<string, Role>();
  readonly #byExternalId = new Map<string, Role>();
  /** differs if the mapping differs, whatever the order of its entries */
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
