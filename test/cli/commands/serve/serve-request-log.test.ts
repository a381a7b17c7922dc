// `serve` with a separate inference proxy: accepted rows are in the log and in the sums after the service has ended.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSource } from "../../../../src/domain/inference/log/file-source.ts";
import { EVENTS_MAX } from "../../../../src/domain/inference/log/intake.ts";
import { openLogForReading } from "../../../../src/domain/inference/log/log-file-store.ts";
import { ADMIN_KEY, LitellmGateway } from "../../../support/gateway/litellm-gateway.ts";
import { prepareInstallation } from "../../../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../../../support/running-service.ts";

const TOKEN = "a-token-of-the-inference-proxy-in-the-configuration";
const BATCHES = 4;
const START_LIMIT_MS = 30_000;

let folder: string;
let upstream: LitellmGateway;
beforeAll(async () => {
  upstream = await LitellmGateway.start();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  await prepareInstallation(join(folder, "data"));
});
afterEach(() => rmSync(folder, { recursive: true }));
afterAll(() => upstream.stop());

function start(): Promise<RunningService> {
  const config = join(folder, "quartermaster.yaml");
  const gateway = {
    type: "litellm",
    url: upstream.origin,
    inference_proxy_url: "https://inference.example.org",
    proxy_token: TOKEN,
    provisioner: { type: "builtin-litellm", admin_key: ADMIN_KEY },
  };
  writeFileSync(config, JSON.stringify({ gateway }), { mode: 0o600 });
  return startService({ args: ["--data-dir", join(folder, "data"), "--config", config] });
}

/** @returns the first row; undefined while the file has no tables */
function inFile<Row>(file: Database | undefined, sql: string): Row | null | undefined {
  using database = file;
  return database?.query<Row, []>(sql).get();
}
const database = () => new Database(join(folder, "data/quartermaster.db"), { readonly: true });
const requestsIn = (file: Database | undefined, table: string): number =>
  inFile<{ count: number | null }>(file, `SELECT sum(requests) AS count FROM ${table}`)?.count ?? 0;
const counted = () => requestsIn(database(), "inference_usage");
const waiting = () => requestsIn(openLogForReading(join(folder, "data/request-logs.db")), "usage_sums");

/** Sends rows as a separate proxy does. */
async function sendBatches({ baseUrl }: RunningService): Promise<void> {
  const user = inFile<{ id: string; organization_id: string }>(
    database(),
    "SELECT id, organization_id FROM users",
  );
  const event = () => ({
    id: crypto.randomUUID(),
    organization_id: user?.organization_id,
    user_id: user?.id,
    occurred_at: new Date().toISOString(),
    method: "POST",
    path: "/responses",
    http_status: 200,
    upstream_latency_ms: 5,
    model: "gpt-5",
  });
  const send = async () =>
    await fetch(`${baseUrl}/internal/gateway/request-logs/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ events: Array.from({ length: EVENTS_MAX }, event) }),
    });
  const responses = await Promise.all(Array.from({ length: BATCHES }, send));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 204));
}

test(
  "INF-43 and INF-56 a service that stops writes every row and every sum that it has taken",
  async () => {
    await using service = await start();
    await sendBatches(service);
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    const log = new FileSource(join(folder, "data/request-logs.db"));
    const search = { filter: {}, sort: "occurred_asc", offset: 0, limit: 1 } as const;
    expect(log.searchNow(search).total).toBe(BATCHES * EVENTS_MAX);
    expect(counted()).toBe(BATCHES * EVENTS_MAX);
  },
  START_LIMIT_MS,
);

test(
  "INF-56 a killed service has stored its sums in the file of the log, and the next one counts them",
  async () => {
    {
      await using service = await start();
      await sendBatches(service);
      while (waiting() + counted() < BATCHES * EVENTS_MAX) await Bun.sleep(10);
      service.signal("SIGKILL");
      await service.ended();
    }
    await using _ = await start();
    expect(counted()).toBe(BATCHES * EVENTS_MAX);
  },
  START_LIMIT_MS,
);
