// The facts of doctor and status about traces of running processes, and the settings of the collector.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { probeExternalServices } from "../../../src/app/installation/outside-services.ts";
import { checkTracing, RECENT_DROPS_MS } from "../../../src/app/tracing/check.ts";
import {
  collectorDestinations,
  collectorPathOf,
  collectorTlsOf,
} from "../../../src/app/tracing/collector-settings.ts";
import {
  findTracingState,
  keepTracingState,
  type TracingState,
} from "../../../src/app/tracing/tracing-state.ts";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { problemsOf } from "../../platform/config/problems.ts";
import { createWorkspace } from "../../support/in-process.ts";
import { START_MS } from "../../support/world.ts";

const load = (flags: Record<string, string>): Config => loadConfig({ flags, env: {}, cwd: "/" });
const on = load({ tracingUrl: "https://traces.example.org" });

const STATE: TracingState = {
  waiting: 0,
  sent: 7,
  lastDroppedMs: null,
  failingSinceMs: null,
  error: null,
  dropped: { queue_full: 0, refused: 0, stopped: 0 },
};
const look = (state: TracingState | undefined, config = on) =>
  checkTracing(checkOf("tracing"), config, { state, nowMs: START_MS });

test.each([
  ["no traces are sent", undefined, load({})],
  ["no traces have been sent since the start", undefined, on],
  ["the collector accepted 7 spans since the start", STATE, on],
  [
    "the collector accepted 7 spans since the start",
    { ...STATE, lastDroppedMs: START_MS - RECENT_DROPS_MS },
    on,
  ],
])("TRC-6 doctor finds no problem: %s", (detail, state, config) => {
  expect(look(state, config)).toMatchObject({ result: "ok", detail });
});

test("TRC-6 doctor warns of a failing collector and of recently dropped spans", () => {
  expect(look({ ...STATE, failingSinceMs: START_MS, error: "it answered 503" })).toMatchObject({
    result: "warning",
    detail: expect.stringContaining(": it answered 503"),
  });
  const dropped = { queue_full: 2, refused: 1, stopped: 0 };
  expect(look({ ...STATE, dropped, lastDroppedMs: START_MS - RECENT_DROPS_MS + 1 })).toMatchObject({
    result: "warning",
    detail: expect.stringContaining("3 spans were dropped"),
  });
});

test("TRC-6 the state is written at most every ten seconds, immediately when attempts start or stop failing, and summed over both processes", () => {
  using workspace = createWorkspace();
  const files = {
    tracing: join(workspace.folder, "run", "tracing.json"),
    forwarderTracing: join(workspace.folder, "run", "tracing-forwarder.json"),
  };
  let nowMs = START_MS;
  const keep = keepTracingState(files.tracing, () => nowMs);
  const sent = () => findTracingState(files)?.sent;
  keep(STATE);
  keep({ ...STATE, sent: 8 });
  expect(sent()).toBe(7);
  nowMs += 10_000;
  keep({ ...STATE, sent: 9 });
  expect(sent()).toBe(9);
  keep({ ...STATE, sent: 10, failingSinceMs: nowMs, error: "down" });
  expect(findTracingState(files)).toMatchObject({ sent: 10, error: "down" });
  writeFileSync(files.forwarderTracing, "{}"); // written by another version
  expect(findTracingState(files)).toMatchObject({ sent: 10, error: "down" });
  keepTracingState(files.forwarderTracing, () => nowMs)({ ...STATE, sent: 1, lastDroppedMs: 5 });
  expect(findTracingState(files)).toMatchObject({ sent: 11, error: "down", lastDroppedMs: 5 });
});

test.each([
  ["https://traces.example.org/", "https://traces.example.org", "/v1/traces"],
  ["https://traces.example.org:4318/otlp/v1/traces/", "https://traces.example.org:4318", "/otlp/v1/traces"],
  ["http://127.0.0.1:4318", "http://127.0.0.1:4318", "/v1/traces"],
])("TRC-5 %s is a collector at %s with the path %s", (given, origin, path) => {
  const config = load({ tracingUrl: given });
  expect(collectorDestinations(config)).toMatchObject([{ name: "trace-collector", origin }]);
  expect(collectorPathOf(config.get("tracing.url") ?? "")).toBe(path);
});

test("TRC-5 invalid settings are refused with the reason", () => {
  const url = { tracingUrl: "https://traces.example.org" };
  expect(problemsOf(() => load({ tracingUrl: "http://traces.example.org" }))).toHaveLength(1);
  for (const ratio of ["1.01", "-0.1", "a"])
    expect(problemsOf(() => load({ ...url, tracingSampleRatio: ratio }))).toEqual([
      "--tracing-sample-ratio: must be a number from 0 to 1, such as 0.25",
    ]);
  expect(problemsOf(() => load({ ...url, tracingClientCert: "a.pem" }))).toEqual([
    "tracing.client_key: missing; tracing.client_cert and tracing.client_key are given together or not at all",
  ]);
  expect(problemsOf(() => collectorTlsOf(load({ ...url, tracingCaFile: "/nothing" })))).toEqual([
    "tracing.ca_file: cannot be read",
  ]);
  expect(load({ tracingSampleRatio: "0.5" }).warnings).toEqual([
    "tracing.url is not set, so these do nothing: tracing.sample_ratio",
  ]);
});

test("TRC-6 status reports an unreachable collector and what that affects", async () => {
  const [collector] = await probeExternalServices(load({ tracingUrl: "http://127.0.0.1:1" }));
  expect(collector).toMatchObject({ name: "trace-collector", state: "unreachable" });
  expect(collector?.affects).toContain("traces are dropped");
});
