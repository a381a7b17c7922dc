// Gateway keys in the running service: their metrics, and log lines of failed calls.

import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { watchKeys, watchProvisioner } from "../../../src/app/service/metrics/gateway-metrics.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { heldClock } from "../../support/world.ts";

test("calls are counted by outcome and timed, and only failed ones are logged", async () => {
  const metrics = new Registry();
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLog({ level: "debug", format: "json", write, clock: heldClock() });
  const observe = watchProvisioner({ metrics, log });
  observe({ operation: "provision", outcome: "succeeded", durationMs: 40, userId: "u1" });
  observe({
    operation: "revoke",
    outcome: "unavailable",
    durationMs: 2_000,
    userId: "u2",
    requestId: "r2",
    diagnosis: "nobody listens",
  });
  const page = await metrics.metrics();
  const calls = "quartermaster_provisioner_calls_total";
  expect(page).toContain(`${calls}{operation="provision",outcome="succeeded"} 1`);
  expect(page).toContain(`${calls}{operation="revoke",outcome="unavailable"} 1`);
  expect(page).toContain(`${calls}{operation="revoke",outcome="conflict"} 0`);
  const seconds = "quartermaster_provisioner_call_duration_seconds";
  expect(page).toContain(`${seconds}_sum{operation="revoke"} 2`);
  expect(page).toContain(`${seconds}_bucket{le="0.05",operation="provision"} 1`);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    event: "gateway.call_failed",
    operation: "revoke",
    outcome: "unavailable",
    user_id: "u2",
    request_id: "r2",
    diagnosis: "nobody listens",
  });
});

test("keys are counted by state at scrape time", async () => {
  const metrics = new Registry();
  let total = 2;
  watchKeys(metrics, {
    *figuresInSteps() {
      yield;
      return { keys: [{ state: "ready", total }], due: 4, problems: 1, revocationsPending: 3 };
    },
  });
  expect(await metrics.metrics()).toContain('quartermaster_gateway_keys{state="ready"} 2');
  total = 5;
  const page = await metrics.metrics();
  expect(page).toContain('quartermaster_gateway_keys{state="ready"} 5');
  expect(page).toContain('quartermaster_gateway_keys{state="error"} 0');
  expect(page).toContain("quartermaster_gateway_keys_due 4");
  expect(page).toContain("quartermaster_gateway_keys_with_problem 1");
  expect(page).toContain("quartermaster_gateway_revocations_pending 3");
});

test("refreshes of the model catalog are counted by result, from zero", async () => {
  const metrics = new Registry();
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLog({ level: "debug", format: "json", write, clock: heldClock() });
  const observe = watchProvisioner({ metrics, log });
  observe({ operation: "list_models", outcome: "succeeded", durationMs: 40 });
  observe({ operation: "list_models", outcome: "discovery_auth", durationMs: 40, diagnosis: "401" });
  const page = await metrics.metrics();
  const total = "quartermaster_inference_model_catalog_refresh_total";
  expect(page).toContain(`${total}{result="succeeded"} 1`);
  expect(page).toContain(`${total}{result="discovery_auth"} 1`);
  for (const result of ["unsupported", "discovery_response", "unavailable"])
    expect(page).toContain(`${total}{result="${result}"} 0`);
  expect(lines).toMatchObject([{ event: "gateway.call_failed", operation: "list_models", diagnosis: "401" }]);
  expect(lines[0]).not.toHaveProperty("user_id");
});
