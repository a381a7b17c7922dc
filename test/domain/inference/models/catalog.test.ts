// The model catalog with a gateway in this process: states of models, refreshes by request and on schedule, and the effects of
// failures.
import { describe, expect, test } from "bun:test";
import { asc, sql } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import {
  assignedModels,
  createAllowedModels,
} from "../../../../src/domain/inference/models/allowed-models.ts";
import { type ModelState, REMOVED_KEPT_MAX } from "../../../../src/domain/inference/models/model.ts";
import { modelDifferences } from "../../../../src/domain/inference/models/view.ts";
import { MINUTE_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { SETTINGS } from "../../gateway/gateway-world.ts";
import { createGovernanceWorld } from "../../governance/governance-world.ts";
import {
  assign,
  type CatalogWorld,
  offer,
  refresh,
  sharedCatalogWorld,
  statesOf,
  viewOf,
} from "./catalog-world.ts";

const site = sharedCatalogWorld();
const INTERVAL_MS = SETTINGS.provisioner.modelCatalogRefreshSeconds * SECOND_MS;

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

/** @returns the audit actions about the catalog, with their details */
const audited = ({ world }: CatalogWorld): [string, string, unknown][] =>
  world.db.read
    .select()
    .from(auditEntries)
    .orderBy(asc(auditEntries.id))
    .all()
    .filter(({ action }) => action.startsWith("model_catalog."))
    .map(({ action, target, after }) => [action, target, JSON.parse(after ?? "null")]);

describe("INF-51 the state of a model", () => {
  const described = { id: "a", display_name: "A" };
  const other = { id: "a", display_name: "A", metadata: { context: 8 } };

  /** the models that the gateway offers in each refresh, one after another */
  const rows: [string, (string | object)[][], ModelState][] = [
    ["seen for the first time", [["a"]], "available"],
    ["seen again as it was", [[described], [described]], "available"],
    ["with another name", [["a"], [described]], "changed"],
    ["with other metadata", [[described], [other]], "changed"],
    ["with another name, and then restored", [["a"], [described], ["a"]], "available"],
    ["no longer offered", [["a"], []], "removed"],
    ["that was changed and is no longer offered", [["a"], [described], []], "removed"],
    ["back as it was", [["a"], [], ["a"]], "available"],
    ["back with another name", [["a"], [], [described]], "changed"],
    ["back after many flaps", [["a"], [], ["a"], [], ["a"]], "available"],
  ];
  test.each(rows)("%s", async (_name, refreshes, state) => {
    const world = await site();
    for (const models of refreshes) {
      offer(world, ...models);
      await refresh(world);
    }
    expect(statesOf(world)).toEqual({ a: state });
  });

  test("reports an assigned model that was never offered only as unknown", async () => {
    const world = await site();
    offer(world, "b");
    await refresh(world);
    await assign(world, "codex", "a", "b");
    const [unknown] = viewOf(world).models;
    expect(unknown).toEqual({
      id: "a",
      display_name: null,
      metadata: null,
      fingerprint: null,
      state: "unknown",
      acknowledged: null,
      assigned_to: ["codex"],
      first_seen_at: null,
      last_seen_at: null,
      unavailable_since: null,
    });
    offer(world, "a", "b");
    await refresh(world);
    expect(statesOf(world)).toEqual({ a: "available", b: "available" });
  });

  test("comes with the times at which it was seen first, last, and missed", async () => {
    const world = await site();
    const start = world.world.clock.nowMs();
    const timesOf = () => {
      const [model] = viewOf(world).models;
      const ms = (text: string | null | undefined) => (text == null ? null : Date.parse(text) - start);
      return [ms(model?.first_seen_at), ms(model?.last_seen_at), ms(model?.unavailable_since)];
    };
    offer(world, "a");
    await refresh(world);
    expect(timesOf()).toEqual([0, 0, null]);
    world.world.clock.advance(MINUTE_MS);
    await refresh(world);
    expect(timesOf()).toEqual([0, MINUTE_MS, null]);
    offer(world);
    world.world.clock.advance(MINUTE_MS);
    await refresh(world);
    world.world.clock.advance(MINUTE_MS);
    await refresh(world);
    expect(timesOf()).toEqual([0, MINUTE_MS, 2 * MINUTE_MS]);
  });

  test("never changes an assignment, whatever the gateway offers", async () => {
    const world = await site();
    await assign(world, "codex", "a");
    const before = world.inForce();
    offer(world, "b");
    await refresh(world);
    expect(world.inForce()).toBe(before);
  });
});

describe("INF-51 acknowledging a changed model", () => {
  const change = async (world: CatalogWorld) => {
    offer(world, "a");
    await refresh(world);
    offer(world, { id: "a", display_name: "A" });
    await refresh(world);
    return viewOf(world).models[0]?.fingerprint ?? "";
  };

  test("names every figure that differs from the acknowledged one, also after another change", async () => {
    const world = await site();
    const differences = () => viewOf(world).models.flatMap(modelDifferences);
    const offerNext = async (more: object) => {
      offer(world, { id: "a", ...more });
      await refresh(world);
    };
    await offerNext({ display_name: "A", metadata: { context: 8, price: { in: 1 }, kept: [1] } });
    expect(differences()).toEqual([]);
    await offerNext({
      display_name: "A2",
      metadata: { context: 8, price: { in: 2 }, kept: [1], beta: true },
    });
    const name = { figure: "name", before: "A", after: "A2" };
    const price = { figure: "metadata.price", before: { in: 1 }, after: { in: 2 } };
    expect(differences()).toEqual([name, price, { figure: "metadata.beta", before: undefined, after: true }]);
    await offerNext({});
    expect(differences()).toMatchObject([
      { figure: "name", before: "A", after: undefined },
      { figure: "metadata.context" },
      { figure: "metadata.price" },
      { figure: "metadata.kept" },
    ]);
    const fingerprint = viewOf(world).models[0]?.fingerprint ?? "";
    await world.domain.modelCatalog.acknowledge(world.admin, { modelId: "a", fingerprint });
    expect(differences()).toEqual([]);
    await offerNext({ display_name: "A" });
    expect(differences()).toEqual([{ figure: "name", before: undefined, after: "A" }]);
  });

  test("names no former figures if none were kept, until the model matches the acknowledged one again", async () => {
    const world = await site();
    await change(world);
    await world.world.db.write(
      (tx) => tx.run(sql`UPDATE gateway_models SET acknowledged = NULL`),
      "unobserved",
    );
    expect(viewOf(world).models).toMatchObject([{ state: "changed", acknowledged: null }]);
    for (const model of ["a", { id: "a", display_name: "A" }]) {
      offer(world, model);
      await refresh(world);
    }
    expect(viewOf(world).models).toMatchObject([{ acknowledged: { display_name: null, metadata: null } }]);
  });

  test("makes it available once, and is recorded once", async () => {
    const world = await site();
    const fingerprint = await change(world);
    const acknowledge = () =>
      world.domain.modelCatalog.acknowledge(world.admin, { modelId: "a", fingerprint });
    expect(await acknowledge()).toBeTrue();
    expect(statesOf(world)).toEqual({ a: "available" });
    expect(await acknowledge()).toBeFalse();
    expect(audited(world)).toMatchObject([["model_catalog.acknowledge", "a", { fingerprint }]]);
  });

  test.each([
    ["that has changed again", "a", "gateway.model_changed"],
    ["that was never offered", "b", "gateway.model_not_found"],
  ])("is refused for a model %s", async (_name, modelId, reason) => {
    const world = await site();
    const fingerprint = await change(world);
    offer(world, { id: "a", display_name: "B" });
    await refresh(world);
    const refused = world.domain.modelCatalog.acknowledge(world.admin, { modelId, fingerprint });
    expect(await failureOf(refused)).toMatchObject({ reason });
  });
});

describe("INF-50 a refresh", () => {
  test("is joined while it runs", async () => {
    const world = await site();
    offer(world, "a");
    world.upstream.hold();
    const both = [refresh(world), world.domain.modelCatalog.refreshFor(world.admin)];
    world.upstream.letGo();
    expect(await Promise.all(both)).toEqual([
      { result: "refreshed", added: 1, changed: 0, removed: 0 },
      { result: "refreshed", added: 1, changed: 0, removed: 0 },
    ]);
    expect(world.upstream.listings).toBe(1);
    await refresh(world);
    expect(world.upstream.listings).toBe(2);
  });

  test("counts what it changed", async () => {
    const world = await site();
    offer(world, "a", "b", "c");
    await refresh(world);
    offer(world, "a", { id: "b", display_name: "B" }, "d");
    expect(await refresh(world)).toEqual({ result: "refreshed", added: 1, changed: 1, removed: 1 });
    expect(await refresh(world)).toEqual({ result: "refreshed", added: 0, changed: 0, removed: 0 });
  });

  test.each([
    ["unavailable", "unavailable"],
    ["discovery_auth", "upstream"],
    ["discovery_response", "upstream"],
  ] as const)(
    "keeps the catalog after a refresh that fails with %s and reports the reason",
    async (code, kind) => {
      const world = await site();
      offer(world, "a");
      await refresh(world);
      world.upstream.listingFailure = code;
      world.world.clock.advance(MINUTE_MS);
      const failure = await failureOf(refresh(world));
      expect(failure).toBeInstanceOf(DomainError);
      expect(failure).toMatchObject({ kind, reason: `gateway.models_${code}` });
      const { sync, models } = viewOf(world);
      expect(models.map(({ id, state }) => [id, state])).toEqual([["a", "available"]]);
      expect(sync.latest_error).toBe(failure instanceof Error ? failure.message : "");
      expect(sync).toMatchObject({ discovery_supported: true, latest_error_at: sync.last_refresh_at });
      expect(sync.last_successful_refresh_at).not.toBe(sync.last_refresh_at);
      world.upstream.listingFailure = undefined;
      await refresh(world);
      expect(viewOf(world).sync).toMatchObject({ latest_error: null, latest_error_at: null });
    },
  );

  test("keeps the last good list if a list is refused as a whole", async () => {
    const world = await site();
    offer(world, "a");
    await refresh(world);
    offer(world, "b", " c");
    expect(await failureOf(refresh(world))).toMatchObject({ reason: "gateway.models_discovery_response" });
    expect(statesOf(world)).toEqual({ a: "available" });
  });

  test("knows the revision of the source, given or not", async () => {
    const world = await site();
    await refresh(world);
    expect(viewOf(world).sync.source_revision).toMatch(/^[0-9a-f]{64}$/);
    world.upstream.sourceRevision = "7";
    await refresh(world);
    expect(viewOf(world).sync.source_revision).toBe("7");
  });

  test("becomes stale after two intervals without a success, and never before the first", async () => {
    const world = await site();
    const isStale = () => viewOf(world).sync.stale;
    world.world.clock.advance(100 * INTERVAL_MS);
    expect(isStale()).toBeFalse();
    await refresh(world);
    world.world.clock.advance(2 * INTERVAL_MS);
    world.upstream.listingFailure = "unavailable";
    await failureOf(refresh(world));
    expect(isStale()).toBeFalse();
    world.world.clock.advance(1);
    expect(isStale()).toBeTrue();
  });

  test("forgets the models that were removed first, apart from assigned ones", async () => {
    const world = await site();
    await assign(world, "codex", "a");
    offer(world, "a", "b");
    await refresh(world);
    offer(world);
    await refresh(world);
    world.world.clock.advance(1);
    offer(world, ...Array.from({ length: REMOVED_KEPT_MAX }, (_, n) => `x${n}`));
    await refresh(world);
    expect(Object.keys(statesOf(world))).toHaveLength(REMOVED_KEPT_MAX + 2);
    world.world.clock.advance(1);
    offer(world);
    await refresh(world);
    const { a, b } = statesOf(world);
    expect([a, b]).toEqual(["removed", undefined]);
    expect(Object.keys(statesOf(world))).toHaveLength(REMOVED_KEPT_MAX + 1);
  });

  test("ignores a refresh that began before another one and ends after it", async () => {
    const world = await site();
    offer(world, "new");
    await refresh(world);
    offer(world, "old");
    world.upstream.hold();
    const late = refresh(world);
    world.world.clock.advance(1);
    await world.world.db.write((tx) =>
      tx.run(sql`UPDATE gateway_model_sync SET refreshed_at_ms = refreshed_at_ms + 1`),
    );
    world.upstream.letGo();
    expect(await late).toEqual({ result: "superseded" });
    expect(statesOf(world)).toEqual({ new: "available" });
  });

  test("records a refresh by a person with any result", async () => {
    const world = await site();
    const { modelCatalog } = world.domain;
    offer(world, "a");
    await modelCatalog.refreshFor(world.admin);
    world.upstream.listingFailure = "discovery_auth";
    await failureOf(modelCatalog.refreshFor(world.admin));
    const records = audited(world).map(([action, , after]) => [action, after]);
    expect(records).toEqual([
      ["model_catalog.refresh", { result: "refreshed", added: 1, changed: 0, removed: 0 }],
      ["model_catalog.refresh", { result: "discovery_auth" }],
    ]);
  });
});

describe("INF-50 a refresh on schedule", () => {
  const onSchedule = ({ domain, world }: CatalogWorld, isFirst = false) =>
    domain.modelCatalog.refreshOnSchedule(world.organizationId, {
      isFirst,
      signal: new AbortController().signal,
    });

  test("does not fail with the gateway, and is not recorded", async () => {
    const world = await site();
    world.upstream.listingFailure = "unavailable";
    await onSchedule(world);
    const { sync } = viewOf(world);
    expect(sync.latest_error).not.toBeNull();
    expect([sync.discovery_supported, sync.last_successful_refresh_at, sync.stale]).toEqual([
      null,
      null,
      false,
    ]);
    expect(audited(world)).toEqual([]);
  });

  test("asks a provisioner that cannot list models only at the start, until a person's refresh succeeds", async () => {
    const world = await site();
    world.upstream.listingFailure = "unsupported";
    await onSchedule(world);
    expect(viewOf(world).sync).toMatchObject({ discovery_supported: false, latest_error: null });
    await onSchedule(world);
    expect(world.upstream.listings).toBe(1);
    await onSchedule(world, true);
    expect(world.upstream.listings).toBe(2);
    expect(await refresh(world)).toEqual({ result: "unsupported" });
    world.upstream.listingFailure = undefined;
    await refresh(world);
    await onSchedule(world);
    expect(world.upstream.listings).toBe(5);
    expect(viewOf(world).sync.discovery_supported).toBeTrue();
  });
});

describe("INF-52 the catalog", () => {
  test("shows assignments of allowed agents, and whether workstations get them", async () => {
    const world = await site();
    expect(viewOf(world).assignments).toBe("none");
    await assign(world, "claude", "b", "a");
    const { assignments, harnesses, revision, models } = viewOf(world);
    expect(assignments).toBe("incomplete");
    expect(revision).toBe(world.inForce().id);
    expect(harnesses).toEqual([
      { key: "codex", label: "Codex", exposure: "selected_only", gateway_models: [], default_model: null },
      {
        key: "claude",
        label: "Claude",
        exposure: "catalog",
        gateway_models: ["b", "a"],
        default_model: null,
      },
    ]);
    expect(models.map(({ id, assigned_to }) => [id, assigned_to])).toEqual([
      ["a", ["claude"]],
      ["b", ["claude"]],
    ]);
    await assign(world, "codex", "a");
    expect(viewOf(world).assignments).toBe("delivered");
    expect(viewOf(world).models[0]?.assigned_to).toEqual(["codex", "claude"]);
  });

  test("has every member before the first refresh", async () => {
    const world = await site();
    expect(viewOf(world)).toMatchObject({
      gateway_type: "litellm",
      refresh_interval_seconds: 300,
      models: [],
      sync: {
        last_refresh_at: null,
        last_successful_refresh_at: null,
        source_revision: null,
        latest_error: null,
        latest_error_at: null,
        discovery_supported: null,
        stale: false,
      },
    });
  });
});

describe("INF-55 the models that requests may name", () => {
  const allowedIn = (world: CatalogWorld, modelPolicy: "off" | "log" | "refuse") =>
    createAllowedModels({
      revisions: world.governance.revisions,
      organizationId: () => world.world.organizationId,
      modelPolicy,
    });

  test("allows any model without a policy for models", async () => {
    const world = await site();
    await assign(world, "codex", "a");
    expect(allowedIn(world, "off")()).toBeUndefined();
  });

  test.each(["log", "refuse"] as const)(
    "allows the models assigned to allowed agents with %s, from the current policy",
    async (modelPolicy) => {
      const world = await site();
      const allowed = allowedIn(world, modelPolicy);
      expect(allowed()).toEqual(new Set());
      await assign(world, "codex", "a", "b");
      expect(allowed()).toEqual(new Set(["a", "b"]));
      expect(allowed()).toBe(allowed());
      await assign(world, "claude", "b", "c");
      expect(allowed()).toEqual(new Set(["a", "b", "c"]));
      const harnesses = { codex: { gateway_models: ["a"] }, claude: { gateway_models: ["b", "c"] } };
      await world.publish({ allowed_harnesses: ["claude"], harnesses });
      expect(allowed()).toEqual(new Set(["b", "c"]));
    },
  );

  test("assigns no models if there is no policy", () => {
    expect(assignedModels(undefined)).toEqual(new Set());
  });
});

test("has no catalog without gateway mode, and sends no request", async () => {
  await using world = await createGovernanceWorld();
  const { modelCatalog } = world.domain;
  const { organizationId } = world.world;
  expect(modelCatalog.figures(organizationId)).toBeUndefined();
  for (const work of [
    () => modelCatalog.view(organizationId),
    () => modelCatalog.refresh(organizationId),
    () => modelCatalog.acknowledge(world.admin, { modelId: "a", fingerprint: "b" }),
  ])
    expect(work).toThrow("gateway mode is off");
});
