// Tests the health routes with each part healthy and failing: unauthenticated callers get one word, signed-in callers the
// names of parts, and nobody gets details.
import { describe, expect, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { HEALTH_KEPT_MS, STORE_STATE_KEPT_MS } from "../../src/domain/system/health.ts";
import { openConnection } from "../../src/platform/database/connection.ts";
import { FREE_BYTES_MIN, isNearlyFull } from "../../src/platform/files/disk.ts";
import { CHECKS, createReadiness, WORKER_FRESH_MS } from "../../src/server/readiness.ts";
import { createGatewayServer } from "../support/gateway/gateway-server.ts";
import { createTestServer, type TestServer } from "../support/server.ts";
import { createWorld, START_MS } from "../support/world.ts";

const ask = async ({ request }: TestServer, path: string) => {
  const response = await request("GET", path);
  const isText = response.headers.get("content-type")?.startsWith("text/plain");
  return [response.status, isText ? await response.text() : await response.json()];
};

/** @returns the whole response to an unauthenticated caller */
const refusal = (reason: string, detail: string): unknown[] => {
  const general = { type: "about:blank", title: "Service Unavailable", status: 503 };
  return [503, { ...general, reason, detail, error: detail, request_id: expect.any(String) }];
};

test("OBS-1 a healthy part answers with its documented status", async () => {
  await using server = await createTestServer({ isOwn: true });
  expect(await ask(server, "/health")).toEqual([200, "ok"]);
  expect(await ask(server, "/api/health")).toEqual([200, "ok"]);
  expect(await ask(server, "/ready")).toEqual([200, "ready"]);
  expect(await ask(server, "/health/schema")).toEqual([200, "compatible"]);
  expect(await ask(server, "/health/worker")).toEqual([200, "fresh"]);
  expect(await ask(server, "/health/object-storage")).toEqual([200, "healthy"]);
  expect(await ask(server, "/health/credential-resolver")).toEqual([200, "disabled"]);
});

test("SES-50 a session store that is down fails /health/object-storage without detail, and /ready stays 200", async () => {
  await using server = await createTestServer({ isOwn: true });
  const store = join(server.world.directory, "sessions");
  renameSync(store, `${store}-away`);
  expect(await ask(server, "/health/object-storage")).toEqual(refusal("health.object_storage", "unhealthy"));
  expect(await ask(server, "/ready")).toEqual([200, "ready"]);
  renameSync(`${store}-away`, store);
  server.world.clock.advance(STORE_STATE_KEPT_MS - 1);
  expect((await ask(server, "/health/object-storage"))[0]).toBe(503);
  server.world.clock.advance(1);
  expect(await ask(server, "/health/object-storage")).toEqual([200, "healthy"]);
  renameSync(store, `${store}-away`);
  server.world.clock.advance(STORE_STATE_KEPT_MS + 1);
  expect((await ask(server, "/health/object-storage"))[0]).toBe(503);
});

test("the database of another program is incompatible, and /ready names the check", async () => {
  await using server = await createTestServer({ isOwn: true });
  const { file } = server.world;
  expect(await ask(server, "/health/schema")).toEqual([200, "compatible"]);
  const other = openConnection(file, {});
  other.run("INSERT INTO schema_migrations VALUES (999, 'later', 'x', 0, '9.0.0')");
  await setImmediate(); // as in every request, the next ones run in a separate turn
  expect(await ask(server, "/health/schema")).toEqual(refusal("health.schema", "schema incompatible"));
  const [status, body] = await ask(server, "/ready");
  expect(status).toBe(503);
  expect(body).toMatchObject({ detail: "not ready: schema", errors: [{ pointer: "/schema" }] });
  other.run("DELETE FROM schema_migrations WHERE id = 999");
  other.close();
  await setImmediate();
  expect(await ask(server, "/ready")).toEqual([200, "ready"]);
});

test("detects an altered migration", async () => {
  await using server = await createTestServer({ isOwn: true });
  await server.world.db.write((tx) =>
    tx.run(sql`UPDATE schema_migrations SET sha256 = 'other' WHERE id = 1`),
  );
  expect(await ask(server, "/health/schema")).toEqual(refusal("health.schema", "schema incompatible"));
});

test("OBS-1 /ready names every failing check and nothing else", async () => {
  await using world = await createWorld();
  const { db, clock, file: databaseFile } = world;
  const checkKeys = () => {
    throw new Error("a secret reason");
  };
  const readiness = createReadiness({ db, clock, databaseFile, checkKeys, lastBeatMs: () => 0 });
  clock.advance(WORKER_FRESH_MS);
  expect(readiness.failing()).toEqual(["keys", "worker"]);
  rmSync(databaseFile);
  const states = { isStopping: () => true, isActive: () => false };
  const stopping = { db, clock, databaseFile, checkKeys, lastBeatMs: () => 0, ...states };
  const LEFT = ["disk", "running", "lease"];
  expect(readiness.failing()).toEqual(CHECKS.filter((name) => !LEFT.includes(name)));
  clock.advance(-WORKER_FRESH_MS);
  expect(createReadiness({ ...stopping, checkKeys: () => {} }).failing()).toEqual([
    "database",
    "schema",
    "running",
    "lease",
  ]);
});

test.each([
  [FREE_BYTES_MIN - 1, true],
  [FREE_BYTES_MIN, false],
  [FREE_BYTES_MIN + 1, false],
])("a disk with %i free bytes is nearly full: %p", (availableBytes, isFull) => {
  expect(isNearlyFull({ availableBytes })).toBe(isFull);
});

test.each([
  [WORKER_FRESH_MS - 1, true],
  [WORKER_FRESH_MS, false],
  [WORKER_FRESH_MS + 1, false],
])("background work that last ran %i ms ago is healthy: %p", async (ms, isFresh) => {
  await using world = await createWorld();
  const { db, clock, file: databaseFile } = world;
  const lastBeatMs = () => START_MS + 5;
  const readiness = createReadiness({ db, clock, databaseFile, checkKeys: () => {}, lastBeatMs });
  clock.advance(5 + ms);
  expect(readiness.isWorkerFresh()).toBe(isFresh);
});

test("reports a missing artifact store without its path", async () => {
  await using server = await createTestServer({ isOwn: true });
  rmSync(join(server.world.directory, "artifacts"), { recursive: true });
  expect(await ask(server, "/health/object-storage")).toEqual(refusal("health.object_storage", "unhealthy"));
});

test("reports gateway keys only if they cannot be read", async () => {
  await using server = await createGatewayServer();
  expect(await ask(server, "/health/credential-resolver")).toEqual([200, "healthy"]);
  await server.world.db.write((tx) => tx.run(sql`ALTER TABLE gateway_keys RENAME TO elsewhere`));
  const unhealthy = refusal("health.credential_resolver", "unhealthy");
  expect(await ask(server, "/health/credential-resolver")).toEqual(unhealthy);
});

describe("dependencies", () => {
  const healthy = (name: string) => ({ name, status: "healthy", latency_ms: expect.any(Number) });
  const stores = [healthy("database"), healthy("blob_storage"), healthy("package_storage")];

  async function createAsked(server: TestServer) {
    const { accessToken } = await server.signedIn("member");
    return async () => {
      const response = await server.request("GET", "/health/dependencies", { token: accessToken });
      expect(response.status).toBe(200);
      return await response.json();
    };
  }

  test("lists dependencies one by one in a fixed order", async () => {
    await using server = await createTestServer({ isOwn: true });
    const dependencies = await createAsked(server);
    const checked_at = "2026-01-01T00:00:00.000Z";
    expect(await dependencies()).toEqual({ status: "healthy", checked_at, checks: stores });
  });

  test("reports dependencies as degraded with 200 while one fails, and they recover", async () => {
    await using server = await createTestServer({ isOwn: true });
    const dependencies = await createAsked(server);
    const store = join(server.world.directory, "artifacts");
    renameSync(store, `${store}-away`);
    const { status, checks } = await dependencies();
    expect([status, ...checks.map((check: { status: string }) => check.status)]).toEqual([
      "degraded",
      "healthy",
      "unhealthy",
      "unhealthy",
    ]);
    expect(checks[1].error).toBe("the store cannot be used");
    renameSync(`${store}-away`, store);
    server.world.clock.advance(HEALTH_KEPT_MS);
    expect((await dependencies()).status).toBe("healthy");
  });

  test("query the inference proxy at a limited rate", async () => {
    let requests = 0;
    let status = 200;
    await using proxy = Bun.serve({
      port: 0,
      fetch() {
        requests += 1;
        return new Response("", { status });
      },
    });
    await using server = await createGatewayServer({ proxyOrigin: `http://127.0.0.1:${proxy.port}` });
    const dependencies = await createAsked(server);
    const first = await Promise.all([dependencies(), dependencies()]);
    expect(first[0].checks).toEqual([...stores, healthy("inference_proxy")]);
    status = 500;
    server.world.clock.advance(HEALTH_KEPT_MS - 1);
    expect((await dependencies()).status).toBe("healthy");
    expect(requests).toBe(1);
    server.world.clock.advance(1);
    const error = "the proxy does not report that it is healthy";
    expect((await dependencies()).checks[3]).toMatchObject({ status: "unhealthy", error });
    expect(requests).toBe(2);
  });
});
