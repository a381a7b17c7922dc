// The choices of options are those of the domain.
import { expect, test } from "bun:test";
import {
  INVITATION_STATUS_CHOICES,
  ROLE_CHOICES,
  SOURCE_CHOICES,
  USER_ACTION_CHOICES,
  USER_STATUS_CHOICES,
  WORKSTATIONS_CHOICES,
} from "../../cli/input/choices.ts";
import {
  INVITATION_FILTERS,
  PROVISIONING_SOURCES,
  ROLES,
  USER_STATUSES,
} from "../../src/domain/identity/model.ts";
import { BULK_USER_ACTIONS } from "../../src/domain/identity/users/bulk-changes.ts";
import { NO_WORKSTATION } from "../../src/domain/user-filters.ts";

test.each([
  ["roles", ROLE_CHOICES, ROLES],
  ["changes of many users", USER_ACTION_CHOICES, BULK_USER_ACTIONS],
  ["statuses of users", USER_STATUS_CHOICES, USER_STATUSES],
  ["sources of users", SOURCE_CHOICES, PROVISIONING_SOURCES],
  ["workstations of users", WORKSTATIONS_CHOICES, [NO_WORKSTATION] as const],
  ["statuses of invitations", INVITATION_STATUS_CHOICES, INVITATION_FILTERS],
])("%s", (_, choices, words) => {
  expect([...choices].toSorted()).toEqual([...words].toSorted());
});
