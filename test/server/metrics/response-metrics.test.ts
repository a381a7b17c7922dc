// The metrics of responses must read exactly as the library writes them for the same responses.
import { expect, test } from "bun:test";
import { Counter, Histogram, Registry } from "prom-client";
import { UNMATCHED } from "../../../src/server/http/exchange.ts";
import { createResponseMetrics } from "../../../src/server/metrics/response-metrics.ts";

const ANSWERS = [
  { route: "/health", method: "GET", status: 200, seconds: 0.001 },
  { route: "/health", method: "GET", status: 200, seconds: 0.0011 },
  { route: "/health", method: "GET", status: 503, seconds: 0.75 },
  { route: "/health", method: "HEAD", status: 200, seconds: 0 },
  { route: "/users/:id", method: "PATCH", status: 412, seconds: 5 },
  { route: "/users/:id", method: "PATCH", status: 200, seconds: 5.5 },
  { route: UNMATCHED, method: "GET", status: 404, seconds: 0.2 },
];

/** @returns the page that the library writes */
async function wantedFor(answers: typeof ANSWERS): Promise<string> {
  const registers = [new Registry()];
  const requests = new Counter({
    name: "quartermaster_http_requests_total",
    help: "Responses by route, method and status",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "quartermaster_http_request_duration_seconds",
    help: "Time to the head of the response",
    labelNames: ["route"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  durations.zero({ route: UNMATCHED });
  for (const { route, method, status, seconds } of answers) {
    requests.inc({ route, method, status });
    durations.observe({ route }, seconds);
  }
  return (await registers[0]?.metrics()) ?? "";
}

const linesOf = (page: string): string[] => page.split("\n").sort();

test("the page is what the library writes for the same responses, also when it is read again", async () => {
  const metrics = new Registry();
  const count = createResponseMetrics(metrics, () => []);
  expect(linesOf(await metrics.metrics())).toEqual(linesOf(await wantedFor([])));
  for (const answer of ANSWERS) count(answer);
  const wanted = linesOf(await wantedFor(ANSWERS));
  expect(linesOf(await metrics.metrics())).toEqual(wanted);
  expect(linesOf(await metrics.metrics())).toEqual(wanted);
});

test("methods that no route has are counted together", async () => {
  const metrics = new Registry();
  const count = createResponseMetrics(metrics, () => []);
  for (const method of ["PROPFIND", "TRACE"]) count({ route: UNMATCHED, method, status: 405, seconds: 0 });
  expect(await metrics.metrics()).toContain('{route="unmatched",method="other",status="405"} 2\n');
});

test("a route has its good answers and failures from the first reading on, and durations once it has answered", async () => {
  const metrics = new Registry();
  const answers = { 200: { description: "" }, 304: { description: "" }, 404: { description: "" } };
  const hooks = { detail: { "x-answers": answers } };
  createResponseMetrics(metrics, () => [
    { path: "/policy", method: "GET", hooks },
    { path: "/policy", method: "OPTIONS", hooks },
  ]);
  const page = await metrics.metrics();
  const statuses = [...page.matchAll(/route="\/policy",method="GET",status="(\d+)"\} 0/g)];
  expect(statuses.map(([, status]) => status)).toEqual(["200", "304", "500"]);
  expect(page).not.toContain("OPTIONS");
  expect(page).not.toContain('le="1",route="/policy"');
});

test("routes that are added later have their series from then on", async () => {
  const metrics = new Registry();
  const hooks = { detail: { "x-answers": { 200: { description: "" } } } };
  const routes = [{ path: "/policy", method: "GET", hooks }];
  const count = createResponseMetrics(metrics, () => routes);
  expect(await metrics.metrics()).not.toContain("/console");
  routes.push({ path: "/console", method: "GET", hooks });
  count({ route: "/policy", method: "GET", status: 200, seconds: 0 });
  const page = await metrics.metrics();
  expect(page).toContain('route="/console",method="GET",status="500"} 0');
  expect(page).toContain('route="/policy",method="GET",status="200"} 1');
});
