// The words that options take are those of the domain.
import { expect, test } from "bun:test";
import {
  HARNESS_CHOICES,
  INVITATION_STATUS_CHOICES,
  MODEL_STATE_CHOICES,
  ROLE_CHOICES,
  SOURCE_CHOICES,
  USER_STATUS_CHOICES,
} from "../../cli/input/choices.ts";
import { HARNESS_KEYS } from "../../src/domain/harnesses/harnesses.ts";
import {
  INVITATION_FILTERS,
  PROVISIONING_SOURCES,
  ROLES,
  USER_STATUSES,
} from "../../src/domain/identity/model.ts";
import { MODEL_STATES } from "../../src/domain/inference/models/model.ts";

test.each([
  ["roles", ROLE_CHOICES, ROLES],
  ["statuses of users", USER_STATUS_CHOICES, USER_STATUSES],
  ["sources of users", SOURCE_CHOICES, PROVISIONING_SOURCES],
  ["statuses of invitations", INVITATION_STATUS_CHOICES, INVITATION_FILTERS],
  ["harnesses", HARNESS_CHOICES, HARNESS_KEYS],
  ["states of models", MODEL_STATE_CHOICES, MODEL_STATES],
])("%s", (_, choices, words) => {
  expect([...choices].toSorted()).toEqual([...words].toSorted());
});
