// `doctor` on drafts of the policy that are about to expire.
import { expect, test } from "bun:test";
import { checkPolicyDrafts, DRAFT_WARNING_DAYS } from "../../../src/app/doctor/domain-checks.ts";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { DRAFT_DAYS_MAX } from "../../../src/domain/governance/drafts/draft-model.ts";
import { DAY_MS, toRfc3339 } from "../../../src/platform/clock.ts";
import { managedText } from "../../domain/governance/governance-world.ts";
import { createTestServer } from "../../support/server.ts";

test("CON-51 drafts that end within a week are reported, the oldest by its author", async () => {
  await using site = await createTestServer();
  const { domain, world } = site;
  const { clock, organizationId } = world;
  await domain.governance.deployments.apply(world.system, undefined);
  const found = () =>
    checkPolicyDrafts(checkOf("policy_drafts"), { domain, organizationId, nowMs: clock.nowMs() });
  expect(found()).toMatchObject({ result: "ok", detail: "0 drafts of the policy" });
  const save = async (email: string) => {
    const { actor } = await site.signedIn("admin", { email });
    await domain.governance.drafts.savePolicy(actor, { version: 0 }, managedText({ required: true }));
  };
  await save("ana@example.org");
  const endsAtMs = clock.nowMs() + DRAFT_DAYS_MAX * DAY_MS;
  clock.advance((DRAFT_DAYS_MAX - DRAFT_WARNING_DAYS) * DAY_MS - 1);
  expect(found()).toMatchObject({ result: "ok", detail: "1 draft of the policy" });
  clock.advance(1);
  expect(found()).toMatchObject({
    result: "warning",
    detail: `the draft of ana@example.org ends at ${toRfc3339(endsAtMs)}, because nobody has saved it for weeks`,
    remedy: expect.stringContaining("policy draft show ana@example.org"),
  });
  await save("ben@example.org");
  expect(found().detail).toEndWith("for weeks");
  clock.advance((DRAFT_DAYS_MAX - DRAFT_WARNING_DAYS) * DAY_MS);
  expect(found().detail).toEndWith("for weeks, and 1 more end soon");
});
