// The groups of the identity provider as other areas see them: who is in which. The scim area implements it (scim/service.ts).
import type { Steps } from "../../platform/steps.ts";

export interface UserGroups {
  /** @returns the ids of the groups that the user is in, as of now */
  of(userId: string): readonly string[];
  /** @returns whether the organization has a group with this id */
  has(organizationId: string, groupId: string): boolean;
  /** @returns the ids of the members; none for an unknown group */
  members(groupId: string): Steps<string[]>;
}
