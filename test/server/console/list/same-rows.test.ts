// CON-2, CON-17: for every filter of the lists of users, workstations and gateway keys, the command and the request that the list and
// the question about all rows show find the same rows as the page.
import { afterAll, describe, expect, test } from "bun:test";
import { CORE_GROUP, CORE_USER } from "../../../../src/domain/scim/wire.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { reportWith } from "../../../domain/clients/policies.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { commandsIn, requestsIn, runOn } from "../../../support/cli/shown-commands.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";
import { type Caller, SCIM_TOKEN } from "../../../support/server.ts";

const ZONE = "Asia/Tokyo"; // 9 hours before UTC
const GROUP = "R & D 'east'";

const site = await createGatewayServer();
afterAll(() => site[Symbol.asyncDispose]());
const { clock } = site.world;
const report = ({ accessToken: token }: Caller, host: string) =>
  site.request("POST", "/client-status", { token, body: reportWith({ instance_id: host, hostname: host }) });

const early = await site.signedIn("member", { email: "early@example.com" });
await report(early, "lab-01");
clock.advance(10 * DAY_MS);
const middle = await site.signedIn("member", { email: "middle@example.com" });
await report(middle, "lab-02");
clock.advance(30 * DAY_MS); // lab-02 is seen exactly as long ago as stale workstations at least are
const late = await site.signedIn("member", { email: "late@example.com" });
await report(late, "lab-03");
await site.signedIn("member", { email: "nobody@example.com" });
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const provision = async (path: string, body: object): Promise<string> => {
  const headers = { "content-type": "application/scim+json" };
  const sent = { token: SCIM_TOKEN, headers, body: JSON.stringify(body) };
  return (await (await site.request("POST", `/scim/v2/${path}`, sent)).json()).id;
};
const cleo = await provision("Users", { schemas: [CORE_USER], userName: "cleo@example.com" });
await provision("Groups", { schemas: [CORE_GROUP], displayName: GROUP, members: [{ value: cleo }] });
for (const { user } of [early, late])
  await site.domain.gateway.keys.ensure({ actor: admin.actor, user, manual: true });
const browser = consoleBrowser(site, admin);
browser.cookies.set("quartermaster_zone", ZONE);

/** @returns the day of a time in the reader's zone */
const dayAgo = (days: number) =>
  Temporal.Instant.fromEpochMilliseconds(clock.nowMs() - days * DAY_MS)
    .toZonedDateTimeISO(ZONE)
    .toPlainDate();

/** @returns the rows by the equivalent request and command of a list's page */
async function listed(path: string, nameOf: (row: Record<string, unknown>) => unknown) {
  const { html, status } = await browser.visit(path);
  const request = requestsIn(html).find(({ method }) => method === "GET"); // the first one saves the view
  const answer = await site.request("GET", request?.path ?? "", { cookie: admin.cookie });
  const command = commandsIn(html).find(([noun]) => noun !== "views") ?? [];
  const run = await runOn(site, [...command, "--json"]);
  const cells = [...html.matchAll(/<tr><td.*?<a href="[^"]*">(.*?)<\/a>/gs)].map(([, cell = ""]) => cell);
  const names = (text: string): unknown[] => JSON.parse(text).items.map(nameOf);
  return {
    status,
    page: cells.map((cell) => cell.replaceAll(/<[^>]*>/g, "")),
    request: names(await answer.text()),
    command: names(run.stdout),
  };
}

/** @returns the numbers of rows of the question, of the request as a rehearsal, and of the command as a rehearsal */
async function asked(path: string, act: string, query: string) {
  const { html, heading } = await browser.visit(
    `${path}/action?act=${act}&all=1&filter=${encodeURIComponent(`?${query}`)}`,
  );
  const [request = { method: "", path: "", body: {} }] = requestsIn(html);
  const body = { ...request.body, dry_run: true };
  const answer = await site.request(request.method, request.path, { cookie: admin.cookie, body });
  const [command = []] = commandsIn(html);
  const run = await runOn(site, [...command, "--dry-run", "--json"]);
  const numberIn = (text: string) => Number(/\d+/.exec(text)?.[0]);
  return {
    page: numberIn(heading),
    request: (await answer.json()).matching,
    expected: request.body?.expected,
    command: numberIn(run.stdout),
  };
}

const IN_GROUP = `group=${encodeURIComponent(GROUP)}`;
const USERS: readonly [query: string, addresses: readonly string[]][] = [
  ["q=MIDDLE", ["middle"]],
  ["role=admin", ["admin"]],
  ["status=active&role=member", ["cleo", "early", "late", "middle", "nobody"]],
  ["provisioning_source=scim&q=e", ["cleo"]],
  [IN_GROUP, ["cleo"]],
  ["workstations=none", ["admin", "cleo", "nobody"]],
  ["not_seen=30&role=member", ["cleo", "early", "middle", "nobody"]],
  [`${IN_GROUP}&not_seen=7&workstations=none`, ["cleo"]],
  ["", ["admin", "cleo", "early", "late", "middle", "nobody"]],
];

describe("CON-2 CON-17 users", () => {
  test.each(USERS)("the list shows the command and the request for %p", async (query, names) => {
    const rows = names.map((name) => `${name}@example.com`);
    const found = await listed(`/console/users?${query}`, ({ email }) => email);
    expect(found).toEqual({ status: 200, page: rows, request: rows, command: rows });
  });

  test.each(USERS)("the question shows the command and the request for %p", async (query, { length }) => {
    const found = await asked("/console/users", "end_logins", query);
    expect(found).toEqual({ page: length, request: length, expected: length, command: length });
  });
});

const CLIENTS: readonly [query: string, hosts: readonly string[]][] = [
  ["user=middle@example.com", ["lab-02"]],
  ["stale=true", ["lab-02", "lab-01"]],
  ["stale=false", ["lab-03"]],
  ["stale=true&not_seen_for_days=31", ["lab-01"]],
  ["stale=true&not_seen_for_days=7", ["lab-02", "lab-01"]],
  ["not_seen_for_days=7&q=lab", ["lab-02", "lab-01"]],
  [`last_seen_from=${dayAgo(30)}`, ["lab-03", "lab-02"]],
  [`last_seen_to=${dayAgo(30)}`, ["lab-02", "lab-01"]],
  [`last_seen_from=${dayAgo(30)}&last_seen_to=${dayAgo(30)}&stale=true`, ["lab-02"]],
  ["", ["lab-03", "lab-02", "lab-01"]],
];

describe("CON-2 CON-17 workstations", () => {
  test.each(CLIENTS)("the list shows the command and the request for %p", async (query, hosts) => {
    const found = await listed(`/console/clients?${query}`, ({ hostname }) => hostname);
    expect(found).toEqual({ status: 200, page: [...hosts], request: [...hosts], command: [...hosts] });
  });

  test.each(CLIENTS)("the question shows the command and the request for %p", async (query, { length }) => {
    const found = await asked("/console/clients", "remove", query);
    expect(found).toEqual({ page: length, request: length, expected: length, command: length });
  });
});

const KEYS: readonly [query: string, addresses: readonly string[]][] = [
  ["q=late", ["late"]],
  ["state=ready", ["early", "late"]],
  [`user_id=${early.user.id}`, ["early"]],
  [`user_id=${early.user.id}&state=ready`, ["early"]],
  ["", ["early", "late"]],
];

describe("CON-2 CON-17 gateway keys", () => {
  test.each(KEYS)("the list shows the command and the request for %p", async (query, names) => {
    const rows = names.map((name) => `${name}@example.com`);
    const found = await listed(`/console/gateway/keys?${query}`, ({ email }) => email);
    expect(found).toEqual({ status: 200, page: rows, request: rows, command: rows });
  });

  test.each(KEYS)("the question shows the command and the request for %p", async (query, { length }) => {
    const found = await asked("/console/gateway/keys", "revoke", query);
    expect(found).toEqual({ page: length, request: length, expected: length, command: length });
  });
});
