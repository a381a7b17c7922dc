// How the settings turn tracing on and off.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Registry } from "prom-client";
import { openTracing } from "../../../src/app/tracing/open-tracing.ts";
import { tracedProvisioner } from "../../../src/app/tracing/traced-provisioner.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { BATCH_SPANS_MAX } from "../../../src/platform/tracing/span-queue.ts";
import { tracedDatabase } from "../../../src/platform/tracing/traced-database.ts";
import { responseObserver } from "../../../src/server/tracing/traced-handler.ts";
import { createWorkspace } from "../../support/in-process.ts";
import { certify } from "../../support/network/private-ca.ts";
import { createTraceCollector } from "../../support/network/trace-collector.ts";

const workspace = createWorkspace();
afterAll(() => workspace[Symbol.dispose]());

const lines: string[] = [];
const write = (line: string) => void lines.push(line);
const log = createLog({ level: "info", format: "json", write, clock: systemClock });

const open = (
  flags: Record<string, string>,
  undo: AsyncDisposableStack,
  env: Record<string, string> = {},
) => {
  const metrics = new Registry();
  const config = loadConfig({ flags, env, cwd: workspace.folder });
  const stateFile = join(workspace.folder, "run", "tracing.json");
  const opened = openTracing({ config, ids: systemIds, log, metrics, stateFile, undo });
  return { opened, metrics };
};

test("TRC-1 opens no tracer and wraps nothing if there is no collector", async () => {
  await using undo = new AsyncDisposableStack();
  const { opened, metrics } = open({ tracingSampleRatio: "1" }, undo);
  expect(await opened).toBeUndefined();
  const db = openDatabase(join(workspace.folder, "off.db"));
  undo.defer(() => db.close());
  const observe = () => {};
  expect(tracedDatabase(db, undefined)).toBe(db);
  expect(tracedProvisioner(observe, undefined)).toBe(observe);
  expect(responseObserver(undefined)).toBeUndefined();
  expect(await metrics.metrics()).toContain("\nquartermaster_trace_spans_sent_total 0\n");
});

test("TRC-6 the log has one line when sending starts to fail, and one when it works again", async () => {
  using collector = createTraceCollector();
  const responses = [new Response(null, { status: 400 }), Response.json({})];
  collector.answer = () => responses.shift() ?? new Response(null, { status: 503 });
  const undo = new AsyncDisposableStack();
  const tracing = await open({ tracingUrl: collector.url, tracingSampleRatio: "1" }, undo).opened;
  lines.splice(0);
  for (let batch = 0; batch < 3; batch += 1)
    for (let span = 0; span < BATCH_SPANS_MAX; span += 1)
      tracing?.tracer.begin({ headers: new Headers() }, () => "GET")?.end();
  await undo.disposeAsync();
  while (lines.length < 3) await Bun.sleep(1); // a stop does not wait long for the collector
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "tracing.send_failed", message: "the collector answered 400" },
    { event: "tracing.send_resumed", sent: BATCH_SPANS_MAX },
    { event: "tracing.send_failed", message: "the collector answered 503" },
  ]);
});

test("TRC-5 TRC-6 the collector gets the client certificate and the header of the settings, and the metrics count its spans", async () => {
  const [server, client] = await Promise.all([certify(), certify()]);
  const file = (name: string, text: string): string => {
    writeFileSync(join(workspace.folder, name), text, { mode: 0o600 });
    return join(workspace.folder, name);
  };
  const { cert, key } = server;
  using collector = createTraceCollector({
    cert,
    key,
    ca: client.ca,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const flags = {
    tracingUrl: collector.url,
    tracingSampleRatio: "1",
    tracingCaFile: file("ca.pem", server.ca),
    tracingClientCert: file("client.pem", client.cert),
    tracingClientKey: file("client.key", client.key),
  };
  const undo = new AsyncDisposableStack();
  const { opened, metrics } = open(flags, undo, { QUARTERMASTER_TRACING_AUTHORIZATION: "Bearer a" });
  const tracing = await opened;
  tracing?.tracer.begin({ headers: new Headers() }, () => "GET")?.end();
  expect(await metrics.metrics()).toContain("\nquartermaster_trace_spans_waiting 1\n");
  await undo.disposeAsync();
  expect(collector.spans.map(({ name }) => name)).toEqual(["GET"]);
  expect(collector.headers.get("authorization")).toBe("Bearer a");
  tracing?.tracer.begin({ headers: new Headers() }, () => "GET")?.end();
  const page = await metrics.metrics();
  expect(page).toContain("\nquartermaster_trace_spans_sent_total 1\n");
  expect(page).toContain('\nquartermaster_trace_spans_dropped_total{cause="stopped"} 1\n');
});
