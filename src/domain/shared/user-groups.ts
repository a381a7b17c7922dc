// The identity provider's groups for other areas: who is in which group. The scim area implements it (scim/service.ts).
import type { Steps } from "../../platform/steps.ts";

export interface UserGroups {
  /** @returns the ids of the user's current groups */
  of(userId: string): readonly string[];
  /** @returns whether the organization has a group with this id */
  has(organizationId: string, groupId: string): boolean;
  /** @returns the ids of the members; empty for an unknown group */
  members(groupId: string): Steps<string[]>;
}
