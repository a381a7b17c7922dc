// Generated parts of the handbook match the code: settings, limits, states and exit codes. After a change,
// QUARTERMASTER_UPDATE_GOLDEN=1 rewrites them.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { CHAPTERS } from "../../src/handbook/contents.ts";
import { chapterFile } from "../support/content/chapter-files.ts";
import { expectPartsCurrent, partNamesIn } from "../support/generated-parts.ts";
import { catalogMembersMarkdown } from "./reference/catalog.ts";
import { keyStatesMarkdown, keyTransitionsMarkdown } from "./reference/gateway.ts";
import { harnessComponentsMarkdown } from "./reference/harnesses.ts";
import { inferenceRefusalsMarkdown } from "./reference/inference.ts";
import { auditActionsMarkdown, eventsMarkdown, metricsMarkdown } from "./reference/observability.ts";
import { policyMembersMarkdown } from "./reference/policy.ts";
import { proseGenerators } from "./reference/prose.ts";
import { settingsMarkdown } from "./reference/settings.ts";

const GENERATORS: Readonly<Record<string, () => string>> = {
  ...proseGenerators,
  settings: settingsMarkdown,
  "policy-members": policyMembersMarkdown,
  "catalog-members": catalogMembersMarkdown,
  "harness-components": harnessComponentsMarkdown,
  metrics: metricsMarkdown,
  "log-events": eventsMarkdown,
  "audit-actions": auditActionsMarkdown,
  "key-states": keyStatesMarkdown,
  "key-transitions": keyTransitionsMarkdown,
  "inference-refusals": inferenceRefusalsMarkdown,
};

describe("generated parts", () => {
  test.each(CHAPTERS)("keeps the parts of $name current", ({ name }) => {
    expectPartsCurrent(chapterFile(name), GENERATORS);
  });

  test("appear in one place each, and every generator is used", () => {
    const names = CHAPTERS.flatMap(({ name }) => partNamesIn(readFileSync(chapterFile(name), "utf8")));
    expect(names.toSorted()).toEqual(Object.keys(GENERATORS).toSorted());
  });
});
