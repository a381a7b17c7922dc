// `doctor` and `status` on the model catalog: refreshes that fail or are overdue, and assigned models that are not
// available.
import { expect, test } from "bun:test";
import { modelFacts, modelsDocument } from "../../../cli/commands/status/models.ts";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { checkModelCatalog } from "../../../src/app/doctor/model-catalog.ts";
import { HOUR_MS } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import {
  assign,
  type CatalogWorld,
  offer,
  refresh,
  sharedCatalogWorld,
} from "../../domain/inference/models/catalog-world.ts";
import { createTestServer, type TestServer } from "../../support/server.ts";

const site = sharedCatalogWorld();
const configWith = (policy: string) =>
  loadConfig({ flags: {}, env: { QUARTERMASTER_GATEWAY_PROXY_MODEL_POLICY: policy }, cwd: "/" });

const findingsOf = ({ domain, world }: TestServer, policy = "off") =>
  checkModelCatalog(checkOf("gateway_models"), {
    domain,
    config: configWith(policy),
    organizationId: world.organizationId,
    nowMs: world.clock.nowMs(),
    isServiceRunning: true,
  }).map(({ result, detail }) => `${result}: ${detail}`);

const factsOf = ({ domain, world }: CatalogWorld) =>
  modelFacts(domain.modelCatalog.figures(world.organizationId), { nowMs: world.clock.nowMs() });

test("a catalog without problems is counted", async () => {
  const world = await site();
  expect(findingsOf(world)).toEqual(["ok: none known"]);
  expect(factsOf(world)).toEqual([["gateway models", "none known; not refreshed yet"]]);
  offer(world, "a", "b");
  await refresh(world);
  offer(world, "a");
  await refresh(world);
  expect(findingsOf(world)).toEqual(["ok: 1 available, 1 removed"]);
  expect(factsOf(world)).toEqual([
    ["gateway models", "1 available, 1 removed; refreshed 2026-01-01T00:00:00.000Z (now)"],
  ]);
});

test("a failed or overdue refresh is reported", async () => {
  const world = await site();
  await refresh(world);
  world.world.clock.advance(HOUR_MS);
  expect(findingsOf(world)).toEqual(["warning: the models have not been refreshed for two intervals"]);
  expect(factsOf(world)).toContainEqual(["", "not refreshed for two intervals"]);
  world.upstream.listingFailure = "unavailable";
  await refresh(world).catch(() => undefined);
  const [finding] = findingsOf(world);
  expect(finding).toStartWith("warning: the last refresh failed: the gateway did not answer");
});

test("assigned models that are not available, and undelivered assignments, are named", async () => {
  const world = await site();
  offer(world, "gone", "other", "same");
  await refresh(world);
  offer(world, { id: "other", display_name: "Other" }, "same");
  await refresh(world);
  await assign(world, "codex", "never", "gone", "other", "same");
  const problems = "assigned, but changed or not offered: gone (removed), never (unknown), other (changed)";
  const incomplete = "an allowed agent has no models, so workstations do not get the lists";
  expect(findingsOf(world)).toEqual([`warning: ${problems}`, `warning: ${incomplete}`]);
  expect(factsOf(world)).toContainEqual([
    "",
    "3 assigned, but changed or not offered; see gateway models list",
  ]);
  const figures = world.domain.modelCatalog.figures(world.world.organizationId);
  expect(figures && modelsDocument(figures)).toMatchObject({
    available: 1,
    changed: 1,
    removed: 1,
    unknown: 1,
    assignments: "incomplete",
    assigned_not_available: [
      { id: "gone", state: "removed" },
      { id: "never", state: "unknown" },
      { id: "other", state: "changed" },
    ],
  });
  await assign(world, "claude", "a1", "a2", "a3", "a4", "a5", "a6");
  const [finding] = findingsOf(world);
  expect(finding).toEndWith(
    "a1 (unknown), a2 (unknown), a3 (unknown), a4 (unknown), a5 (unknown), and 4 more",
  );
});

test("refusing models while none is assigned is reported, because it refuses every request", async () => {
  const world = await site();
  expect(findingsOf(world, "log")).toEqual(["ok: none known"]);
  expect(findingsOf(world, "refuse")).toEqual([
    "warning: gateway.proxy.model_policy is refuse and no model is assigned, so every request is refused",
  ]);
});

test("reports nothing with gateway mode off", async () => {
  await using server = await createTestServer();
  expect(findingsOf(server)).toEqual(["ok: gateway mode is off in these settings"]);
  expect(modelFacts(undefined, { nowMs: 0 })).toEqual([]);
});
