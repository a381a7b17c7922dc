// The metrics of the running service (OBS-2, OBS-3): every metric that the requirement names is in the first scrape, with its help
// and type, and events are counted.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { parser } from "@prometheus-io/lezer-promql";
import { parse } from "yaml";
import { alertRules } from "../../../src/app/monitoring/alert-rules.ts";
import { dashboard } from "../../../src/app/monitoring/dashboard.ts";
import { type Service, startService } from "../../../src/app/service/service.ts";
import { DEVICE_CODE_GRANT } from "../../../src/domain/access/wire.ts";
import { AUDIT_ACTIONS } from "../../../src/domain/audit/actions.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { CHEAP } from "../../support/in-process.ts";
import { temporaryDirectory } from "../../support/world.ts";

/** Metrics of OBS-3, each with its type and a sample that exists before anything has happened. */
const WANTED: Readonly<Record<string, readonly [kind: string, sample: string | RegExp]>> = {
  build_info: ["gauge", '{version="development",commit="development"} 1'],
  http_requests_total: ["counter", '{route="/ready",method="GET",status="200"} 0'],
  http_request_duration_seconds: ["histogram", '_count{route="unmatched"} 0'],
  device_logins_total: ["counter", '{outcome="approved"} 0'],
  tokens_issued_total: ["counter", '{grant="device_code"} 0'],
  token_verifications_total: ["counter", '{result="refused"} 0'],
  verified_tokens_bytes: ["gauge", / \d+$/m],
  policy_revision: ["gauge", " 1"],
  policy_drafts: ["gauge", '{state="stale"} 0'],
  policy_fetches_total: ["counter", '{result="sent"} 0'],
  clients: ["gauge", '{health="attention"} 0'],
  gateway_keys: ["gauge", '{state="error"} 0'],
  provisioner_calls_total: ["counter", '{operation="provision",outcome="succeeded"} 0'],
  scim_requests_total: ["counter", '{resource="Users",status="201"} 0'],
  job_runs_total: ["counter", '{job="signing-key-rotation",outcome="failed"} 0'],
  job_last_success_timestamp_seconds: ["gauge", '{job="signing-key-rotation"} 0'],
  db_size_bytes: ["gauge", / [1-9]\d{4,}$/m],
  db_wal_size_bytes: ["gauge", / \d+$/m],
  backup_last_success_timestamp_seconds: ["gauge", " 0"],
  audit_entries_total: ["counter", '{action="user.remove"} 0'],
  audit_forward_entries_total: ["counter", " 0"],
  audit_forward_failures_total: ["counter", " 0"],
  audit_forward_waiting_entries: ["gauge", " 0"],
  audit_forward_waiting_since_timestamp_seconds: ["gauge", " 0"],
  trace_spans_sent_total: ["counter", " 0"],
  trace_spans_dropped_total: ["counter", '{cause="queue_full"} 0'],
  trace_spans_waiting: ["gauge", " 0"],
  standby_lease_held: ["gauge", " 1"],
  ready: ["gauge", '{check="worker"} 1'],
  sso_sign_ins_total: ["counter", '{outcome="sso.provider_unreachable"} 0'],
  sso_idp_requests_total: ["counter", '{endpoint="token",outcome="refused"} 0'],
  sso_idp_request_duration_seconds: ["histogram", '_count{endpoint="keys"} 0'],
  sso_jwks_age_seconds: ["gauge", " 0"],
  job_period_seconds: ["gauge", '{job="access-sweep"} 600'],
  disk_size_bytes: ["gauge", / [1-9]\d+$/m],
  disk_available_bytes: ["gauge", / \d+$/m],
  disk_reserve_bytes: ["gauge", " 0"],
};

const folder = temporaryDirectory();
let service: Service;

beforeAll(async () => {
  const flags = {
    dataDir: folder,
    serverListen: "127.0.0.1:0",
    // Metrics of inference exist only in gateway mode; these tests do not call the gateway.
    gatewayType: "litellm",
    gatewayUrl: "http://127.0.0.1:9",
    gatewayProvisionerType: "builtin-litellm",
  };
  const env = { QUARTERMASTER_GATEWAY_PROVISIONER_ADMIN_KEY: "sk-not-used" };
  service = await startService({
    config: loadConfig({ flags, env, cwd: folder }),
    clock: systemClock,
    ids: systemIds,
    log: createLog({ level: "error", format: "json", write: () => {}, clock: systemClock }),
    passwordCost: CHEAP.passwordCost,
    onBootstrap: () => {},
  });
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const operator = () => {
  const organizationId = service.installation.domain.identity.organization()?.id ?? "";
  return { kind: "operator", id: null, label: "test", organizationId } as const;
};

const scrape = async (): Promise<string> => await (await fetch(`${service.address}/metrics`)).text();

/** @returns the lines of one metric, without the prefix */
const linesOf = (page: string, name: string): string[] =>
  page.split("\n").filter((line) => new RegExp(`^quartermaster_${name}(?:_count)?[{ ]`).test(line));

/** @returns the missing parts of a metric */
function gapsOf(page: string, name: string, [kind, sample]: (typeof WANTED)[string]): string[] {
  const lines = linesOf(page, name).map((line) => line.slice(`quartermaster_${name}`.length));
  const isThere = typeof sample === "string" ? lines.includes(sample) : sample.test(lines.join("\n"));
  return [
    ...(new RegExp(`^# HELP quartermaster_${name} \\S`, "m").test(page) ? [] : ["help"]),
    ...(page.includes(`# TYPE quartermaster_${name} ${kind}\n`) ? [] : ["kind"]),
    ...(isThere ? [] : [String(sample)]),
  ];
}

test("OBS-3 the first scrape has every metric with help and type, and zero where nothing has happened", async () => {
  const page = await scrape();
  const gaps = Object.entries(WANTED).map(([name, wanted]) => [name, ...gapsOf(page, name, wanted)]);
  expect(gaps.filter(({ length }) => length > 1)).toEqual([]);
  expect(gapsOf("", "ready", ["gauge", " 1"])).toEqual(["help", "kind", " 1"]);
});

test("OBS-2 every metric has the prefix, and no label contains a person, a machine, a secret or a raw path", async () => {
  const samples = (await scrape()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(samples.filter((line) => !line.startsWith("quartermaster_"))).toEqual([]);
  const labels = new Set(samples.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, name]) => name)));
  for (const forbidden of ["user", "host", "email", "token", "path"]) expect(labels).not.toContain(forbidden);
});

/** @returns the value of one sample */
const sampleOf = async (sample: string): Promise<string | undefined> =>
  linesOf(await scrape(), sample.replace(/\{.*/, ""))
    .find((line) => line.startsWith(`quartermaster_${sample} `))
    ?.split(" ")
    .at(-1);

test("audit entries are counted once for every kind of actor", async () => {
  const { domain } = service.installation;
  const created = 'audit_entries_total{action="user.create"}';
  expect(await sampleOf(created)).toBe("0");
  await domain.identity.users.create(operator(), { email: "ana@example.org", role: "member" });
  expect([await sampleOf(created), await sampleOf(created)]).toEqual(["1", "1"]);
  expect(linesOf(await scrape(), "audit_entries_total")).toHaveLength(AUDIT_ACTIONS.length);
});

test("device logins and their tokens are counted by outcome", async () => {
  const { domain, db } = service.installation;
  const { sessions, deviceLogins } = domain.access;
  const user = domain.identity.users.find(operator().organizationId, "admin@example.com");
  const actor = { ...operator(), kind: "user", id: user.id } as const;
  const session = await db.write((tx) =>
    sessions.open(tx, user.id, { address: null, userAgent: null, isFresh: true }),
  );
  const login = await deviceLogins.request({ clientId: "blue-cli", address: null });
  await deviceLogins.claim(actor, login.linkToken);
  const decision = { linkToken: login.linkToken, loginSessionId: session.id, decision: "approve" } as const;
  await deviceLogins.decide(actor, decision);
  const form = { client_id: "blue-cli", grant_type: DEVICE_CODE_GRANT, device_code: login.deviceCode };
  const redeem = () =>
    fetch(`${service.address}/api/auth/oauth2/token`, { method: "POST", body: new URLSearchParams(form) });
  expect([(await redeem()).status, (await redeem()).status]).toEqual([200, 400]);
  const outcomes = ["approved", "redeemed", "refused", "expired"];
  const samples = outcomes.map((outcome) => `device_logins_total{outcome="${outcome}"}`);
  expect(await Promise.all(samples.map(sampleOf))).toEqual(["1", "1", "0", "0"]);
  expect(await sampleOf('tokens_issued_total{grant="device_code"}')).toBe("1");
  expect(await sampleOf('tokens_issued_total{grant="refresh_token"}')).toBe("0");
});

test("responses to identity providers are counted by resource for every route below it", async () => {
  for (const path of ["Users", "Users/1", "Groups/.search", "Nothing"])
    await fetch(`${service.address}/scim/v2/${path}`);
  expect(await sampleOf('scim_requests_total{resource="Users",status="401"}')).toBe("2");
  expect(await sampleOf('scim_requests_total{resource="Groups",status="401"}')).toBe("1");
  expect(await sampleOf('scim_requests_total{resource="other",status="401"}')).toBe("1");
});

/** Labels that the scrape adds, or renames because the metric has a label of that name itself. */
const OF_THE_SCRAPE = ["instance", "job", "exported_job"];

/** @returns the problems of a query: invalid syntax, unknown metrics or unknown labels */
function mistakesIn(query: string, page: string): string[] {
  const text = query.replaceAll("$__rate_interval", "5m");
  const mistakes: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const part = text.slice(from, to);
      if (type.isError) mistakes.push(`cannot be read at ${text.slice(from)}`);
      if (type.name !== "VectorSelector") return;
      const metric = part.replace(/\{.*/s, "");
      const samples = page
        .split("\n")
        .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
      if (samples.length === 0 && metric !== "up") mistakes.push(`there is no ${metric}`);
      const labels = node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
      for (const label of labels) {
        const name = text.slice(label.from, label.to).replace(/[=!~].*/s, "");
        const isThere = samples.some((line) => line.includes(`${name}="`));
        if (!OF_THE_SCRAPE.includes(name) && !isThere) mistakes.push(`${metric} has no label ${name}`);
      }
    },
  });
  return mistakes;
}

test("OBS-6 TRC-6 the example alert rules are valid and query only existing metrics", async () => {
  const { groups } = parse(alertRules());
  const rules: Record<string, unknown>[] = groups[0].rules;
  for (const { expr, for: duration, labels, annotations } of rules) {
    expect(mistakesIn(String(expr), await scrape())).toEqual([]);
    expect(duration).toMatch(/^\d+[mh]$/);
    expect(labels).toEqual({ severity: expect.stringMatching(/^(?:critical|warning)$/) });
    expect(annotations).toEqual({ summary: expect.any(String), action: expect.any(String) });
  }
  const wanted = [
    "NotReady",
    "JobOverdue",
    "BackupOld",
    "ProvisioningFails",
    "RequestLogDrops",
    "SessionsLost",
    "SessionsNotDeleted",
    "DiskFilling",
    "SpansDropped",
  ]; // OBS-6, SES-48 for sessions, and TRC-6 for traces
  expect(rules.map(({ alert }) => alert)).toEqual(
    expect.arrayContaining(wanted.map((name) => `Quartermaster${name}`)),
  );
});

test("the example dashboard is valid for Grafana and queries only existing metrics", async () => {
  const { panels, uid, schemaVersion } = JSON.parse(dashboard());
  expect([uid, schemaVersion]).toEqual(["quartermaster", expect.any(Number)]);
  const page = await scrape();
  const cells = new Set<string>();
  for (const { title, gridPos, targets } of panels) {
    expect(targets.flatMap(({ expr }: { expr: string }) => mistakesIn(expr, page))).toEqual([]);
    const { x, y, w, h } = gridPos;
    expect([title, x + w <= 24, cells.has(`${x} ${y}`)]).toEqual([title, true, false]);
    for (let cell = 0; cell < w * h; cell += 1) cells.add(`${x + (cell % w)} ${y + Math.floor(cell / w)}`);
  }
  expect(cells.size).toBe(panels.reduce((sum: number, { gridPos: { w, h } }: Grid) => sum + w * h, 0));
});

interface Grid {
  gridPos: { w: number; h: number };
}

test("an invalid query is detected", async () => {
  const page = await scrape();
  expect(mistakesIn("sum(quartermaster_ready", page)).not.toEqual([]);
  expect(mistakesIn("quartermaster_nothing > 0", page)).toEqual(["there is no quartermaster_nothing"]);
  expect(mistakesIn('quartermaster_ready{route="/"}', page)).toEqual([
    "quartermaster_ready has no label route",
  ]);
});
