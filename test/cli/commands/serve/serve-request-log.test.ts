// `serve` with a separate inference proxy: rows that were taken are in the log and in the sums when the service has ended.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSource } from "../../../../src/domain/inference/log/file-source.ts";
import { EVENTS_MAX } from "../../../../src/domain/inference/log/intake.ts";

import { ADMIN_KEY, LitellmGateway } from "../../../support/gateway/litellm-gateway.ts";
import { startService } from "../../../support/running-service.ts";

const TOKEN = "a-token-of-the-inference-proxy-in-the-configuration";
const BATCHES = 4;
const START_LIMIT_MS = 30_000;

let folder: string;
let upstream: LitellmGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  upstream = await LitellmGateway.start();
});
afterAll(async () => {
  await upstream.stop();
  rmSync(folder, { recursive: true });
});

test(
  "INF-43 and INF-56 a service that stops writes every row and every sum that it has taken",
  async () => {
    const config = join(folder, "quartermaster.yaml");
    const gateway = {
      type: "litellm",
      url: upstream.origin,
      inference_proxy_url: "https://inference.example.org",
      proxy_token: TOKEN,
      provisioner: { type: "builtin-litellm", admin_key: ADMIN_KEY },
    };
    writeFileSync(config, JSON.stringify({ gateway }), { mode: 0o600 });
    const data = join(folder, "data");
    await using service = await startService({ args: ["--data-dir", data, "--config", config] });
    const database = join(data, "quartermaster.db");
    const user = read<{ id: string; organization_id: string }>(
      database,
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
      await fetch(`${service.baseUrl}/internal/gateway/request-logs/batch`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ events: Array.from({ length: EVENTS_MAX }, event) }),
      });
    const answers = await Promise.all(Array.from({ length: BATCHES }, send));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204));
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    const log = new FileSource(join(data, "request-logs.db"));
    const search = { filter: {}, sort: "occurred_asc", offset: 0, limit: 1 } as const;
    expect(log.searchNow(search).total).toBe(BATCHES * EVENTS_MAX);
    const sums = "SELECT sum(requests) AS requests FROM inference_usage";
    expect(read(database, sums)).toEqual({ requests: BATCHES * EVENTS_MAX });
  },
  START_LIMIT_MS,
);

function read<Row>(file: string, sql: string): Row | null {
  using database = new Database(file, { readonly: true });
  return database.query<Row, []>(sql).get();
}
