// The words that options take are those of the domain.
import { expect, test } from "bun:test";
import {
  HARNESS_CHOICES,
  INVITATION_STATUS_CHOICES,
  LOG_RESULT_CHOICES,
  MODEL_STATE_CHOICES,
  OUTCOME_CHOICES,
  ROLE_CHOICES,
  SOURCE_CHOICES,
  USAGE_GROUP_CHOICES,
  USER_STATUS_CHOICES,
} from "../../cli/input/choices.ts";
import { HARNESS_KEYS } from "../../src/domain/harnesses/harnesses.ts";
import {
  INVITATION_FILTERS,
  PROVISIONING_SOURCES,
  ROLES,
  USER_STATUSES,
} from "../../src/domain/identity/model.ts";
import { RESULTS } from "../../src/domain/inference/log/model.ts";
import { OUTCOMES } from "../../src/domain/inference/log/record.ts";
import { MODEL_STATES } from "../../src/domain/inference/models/model.ts";
import { GROUPS } from "../../src/domain/inference/usage/model.ts";

test.each([
  ["roles", ROLE_CHOICES, ROLES],
  ["statuses of users", USER_STATUS_CHOICES, USER_STATUSES],
  ["sources of users", SOURCE_CHOICES, PROVISIONING_SOURCES],
  ["statuses of invitations", INVITATION_STATUS_CHOICES, INVITATION_FILTERS],
  ["harnesses", HARNESS_CHOICES, HARNESS_KEYS],
  ["states of models", MODEL_STATE_CHOICES, MODEL_STATES],
  ["results of requests", LOG_RESULT_CHOICES, RESULTS],
  ["ends of requests", OUTCOME_CHOICES, OUTCOMES],
  ["groups of usage", USAGE_GROUP_CHOICES, GROUPS],
])("%s", (_, choices, words) => {
  expect([...choices].toSorted()).toEqual([...words].toSorted());
});
