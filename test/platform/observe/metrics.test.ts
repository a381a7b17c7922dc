import { expect, test } from "bun:test";
import { createMetrics, LABEL_VALUES_MAX } from "../../../src/platform/observe/metrics.ts";

const page = async (metrics: { render(): Promise<string> }): Promise<string[]> =>
  (await metrics.render()).split("\n").filter((line) => line !== "");

test("a counter is rendered in the Prometheus text format with help, type and prefix", async () => {
  const metrics = createMetrics();
  const requests = metrics.counter("http_requests_total", "Requests answered.", {
    labels: { route: [], method: [], status: [] },
  });
  const health = requests.labels("/health", "GET", "200");
  health.inc();
  health.inc(2);
  expect(await page(metrics)).toEqual([
    "# HELP quartermaster_http_requests_total Requests answered.",
    "# TYPE quartermaster_http_requests_total counter",
    'quartermaster_http_requests_total{route="/health",method="GET",status="200"} 3',
  ]);
  expect(metrics.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
});

test("every combination of known label values starts at zero", async () => {
  const metrics = createMetrics();
  metrics.counter("job_runs_total", "Runs.", { labels: { job: ["a", "b"], outcome: ["ok"] } });
  metrics.gauge("clients", "Clients.", { labels: { health: ["well"] } });
  metrics.counter("starts_total", "Starts.");
  expect((await page(metrics)).filter((line) => !line.startsWith("#"))).toEqual([
    'quartermaster_job_runs_total{job="a",outcome="ok"} 0',
    'quartermaster_job_runs_total{job="b",outcome="ok"} 0',
    'quartermaster_clients{health="well"} 0',
    "quartermaster_starts_total 0",
  ]);
});

test("resolving a handle again goes on counting", async () => {
  const metrics = createMetrics();
  const logins = metrics.counter("logins_total", "Logins.", { labels: { outcome: ["ok"] } });
  const sessions = metrics.gauge("sessions", "Sessions.", { labels: { kind: ["web"] } });
  logins.labels("ok").inc();
  logins.labels("ok").inc();
  sessions.labels("web").set(5);
  sessions.labels("web").dec();
  const lines = await page(metrics);
  expect(lines).toContain('quartermaster_logins_total{outcome="ok"} 2');
  expect(lines).toContain('quartermaster_sessions{kind="web"} 4');
});

test("a counter does not go down", () => {
  const handle = createMetrics().counter("logins_total", "Logins.").labels();
  expect(() => handle.inc(-1)).toThrow();
});

test("a gauge with a callback shows what is true at rendering, and nothing of before", async () => {
  const metrics = createMetrics();
  let states: [string, number][] = [["ready", 2]];
  metrics.gauge("gateway_keys", "Keys.", {
    labels: { state: ["ready", "failed"] },
    read: (set) => {
      for (const [state, count] of states) set(count, state);
    },
  });
  expect(await page(metrics)).toContain('quartermaster_gateway_keys{state="ready"} 2');
  states = [["purging", 1]];
  expect((await page(metrics)).filter((line) => !line.startsWith("#"))).toEqual([
    'quartermaster_gateway_keys{state="ready"} 0',
    'quartermaster_gateway_keys{state="failed"} 0',
    'quartermaster_gateway_keys{state="purging"} 1',
  ]);
});

test("a callback that fails fails the rendering, so that a scrape does not show half a picture", async () => {
  const metrics = createMetrics();
  metrics.gauge("db_size_bytes", "Size.", {
    read: () => {
      throw new Error("database is closed");
    },
  });
  await expect(metrics.render()).rejects.toThrow("database is closed");
});

test("a histogram counts what it observes in its buckets", async () => {
  const metrics = createMetrics();
  const duration = metrics.histogram("http_request_duration_seconds", "Duration.", {
    labels: { route: ["/health"] },
    buckets: [0.01, 0.1],
  });
  duration.labels("/health").observe(0.05);
  expect((await page(metrics)).filter((line) => !line.startsWith("#"))).toEqual([
    'quartermaster_http_request_duration_seconds_bucket{le="0.01",route="/health"} 0',
    'quartermaster_http_request_duration_seconds_bucket{le="0.1",route="/health"} 1',
    'quartermaster_http_request_duration_seconds_bucket{le="+Inf",route="/health"} 1',
    'quartermaster_http_request_duration_seconds_sum{route="/health"} 0.05',
    'quartermaster_http_request_duration_seconds_count{route="/health"} 1',
  ]);
});

test.each([
  [LABEL_VALUES_MAX - 1, false],
  [LABEL_VALUES_MAX, false],
  [LABEL_VALUES_MAX + 1, true],
])("of %i values of one label some are counted as other: %p", async (values, overflows) => {
  const metrics = createMetrics();
  const runs = metrics.counter("runs_total", "Runs.", { labels: { job: ["known"] } });
  for (let index = 1; index < values; index++) runs.labels(`job${index}`).inc();
  runs.labels("known").inc();
  const text = await metrics.render();
  expect(text.includes('job="other"} 1')).toBe(overflows);
  expect(text).toContain('job="known"} 1');
});

test("a label value with quotes and line breaks cannot forge a sample", async () => {
  const metrics = createMetrics();
  metrics
    .counter("runs_total", "Runs.", { labels: { job: [] } })
    .labels('a"} 9\nforged 1 \\')
    .inc();
  expect(await page(metrics)).toContain('quartermaster_runs_total{job="a\\"} 9\\nforged 1 \\\\"} 1');
});

test("definitions against the rules are refused", () => {
  const metrics = createMetrics();
  metrics.counter("runs_total", "Runs.", { labels: { job: [] } });
  expect(() => metrics.counter("runs_total", "Again.")).toThrow("already been registered");
  expect(() => metrics.counter("runs", "Runs.")).toThrow("_total");
  expect(() => metrics.gauge("quartermaster_runs", "Runs.")).toThrow("prefix");
  expect(() => metrics.gauge("runs", "Runs.", { labels: { email: [] } })).toThrow("email");
  expect(() => metrics.gauge("no spaces", "Runs.")).toThrow();
});

test("a handle needs one value for each label", () => {
  const runs = createMetrics().counter("runs_total", "Runs.", { labels: { job: [], outcome: [] } });
  expect(() => runs.labels("a")).toThrow("2 label values");
  expect(() => runs.labels("a", "b", "c")).toThrow("2 label values");
});
