// CON-115: the stream of events for open pages: its content, when it ends, and the maximum number.
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { Principal } from "../../../src/domain/access/service.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import {
  STREAMS_PER_LOGIN_MAX,
  STREAMS_PER_USER_MAX,
  StreamHolders,
} from "../../../src/server/http/event-streams.ts";
import {
  ADMIN_STREAMS_MAX,
  AdminEvents,
  CHECK_MS,
  EVENTS_WAITING_MAX,
  HEARTBEAT_MS,
  WATCH_MS,
} from "../../../src/server/overview/admin-events.ts";
import { RevisionStreams } from "../../../src/server/policy-api/revision-streams.ts";
import { createClientsWorld } from "../../domain/clients/clients-world.ts";
import { createTestServer } from "../../support/server.ts";

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
const { world, domain } = site;
const admin = await site.signedIn("admin");
const otherAdmin = await site.signedIn("admin");
const member = await site.signedIn("member");

let problems: number | undefined = 0;
let checks = 0;
let events: AdminEvents;
let holders: StreamHolders;
beforeEach(() => {
  checks = 0;
  holders = new StreamHolders();
  events = new AdminEvents({
    overview: {
      knownProblems: () => problems,
      async problems() {
        checks += 1;
        return { problems: [], checkedAtMs: undefined };
      },
    },
    clock: world.clock,
    log: createLog({ level: "error", format: "json", write: () => {}, clock: world.clock }),
    loginWatch: domain.access.loginWatch,
    holders,
    revision: (id) => domain.governance.revisions.current(id)?.sequence ?? 0,
    changes: {
      clients: () => domain.clients.revision(),
      keys: () => domain.gateway.revision(),
      jobs: () => domain.jobs.revision(),
    },
  });
});
afterEach(() => events.close());

/** @returns the session of an administrator, in the form of the guard */
async function signedIn(user = admin.user) {
  const { sessionToken } = await site.signInAgain(user);
  return domain.access.authenticator.session(sessionToken);
}
const saidBy = (stream: ReadableStream): Promise<string> => new Response(stream).text();
const eventsIn = (text: string): string[] =>
  [...text.matchAll(/^event: (.+)$/gm)].map(([, name = ""]) => name);

test("CON-115 a stream reports each change once, in numbers only", async () => {
  const stream = events.open(await signedIn());
  events.beat();
  const revision = await site.publish();
  await site.report({ instance_id: "a", hostname: "private-host", config_revision: revision });
  events.beat();
  problems = 3;
  events.beat();
  events.beat();
  events.close();
  const said = await saidBy(stream);
  expect(eventsIn(said)).toEqual(["revision", "clients", "problem"]);
  expect(said).toContain('event: problem\ndata: {"number":3}\n\n');
  expect(said).not.toContain("private-host");
  expect(said).toMatch(/^retry: \d+\n\n/);
});

test("CON-115 a stream sends a heartbeat every 15 seconds and repeats its checks every minute", async () => {
  const stream = events.open(await signedIn());
  for (let at = 0; at <= CHECK_MS; at += WATCH_MS) {
    events.beat();
    world.clock.advance(WATCH_MS);
  }
  events.close();
  expect((await saidBy(stream)).match(/^: heartbeat$/gm)).toHaveLength(CHECK_MS / HEARTBEAT_MS + 1);
  expect(checks).toBe(2);
});

test("CON-115 a stream ends when its session ends or expires", async () => {
  const { sessionToken, actor } = await site.signInAgain(admin.user);
  const ended = events.open(domain.access.authenticator.session(sessionToken));
  await domain.access.sessions.end(sessionToken, actor);
  events.beat();
  expect(await saidBy(ended)).toStartWith("retry: ");
  const principal = await signedIn();
  const expired = events.open(principal);
  world.clock.advance(principal.expiresAtMs - world.clock.nowMs());
  events.beat();
  expect(await saidBy(expired)).toStartWith("retry: ");
});

test("CON-115 there are at most 500 streams, and none while the service stops", async () => {
  const open: ReadableStream[] = [];
  while (open.length < ADMIN_STREAMS_MAX) {
    const { user } = open.length < STREAMS_PER_USER_MAX ? admin : otherAdmin;
    const principal = await signedIn(user);
    const count = Math.min(STREAMS_PER_LOGIN_MAX, ADMIN_STREAMS_MAX - open.length);
    for (let opened = 0; opened < count; opened++) open.push(events.open(principal));
  }
  const next = await signedIn(otherAdmin.user);
  expect(() => events.open(next)).toThrow("too many event streams are open");
  await open[0]?.cancel();
  events.open(next);
  events.close();
  expect(() => events.open(next)).toThrow("the service is stopping");
});

test("one login has at most STREAMS_PER_LOGIN_MAX streams, and one user STREAMS_PER_USER_MAX", async () => {
  const refusal = { kind: "too_many", reason: "console.too_many_streams", retryAfterSeconds: 30 };
  const refusalOf = (principal: Principal) => {
    try {
      return events.open(principal);
    } catch (error) {
      return error;
    }
  };
  for (let logins = STREAMS_PER_USER_MAX / STREAMS_PER_LOGIN_MAX; logins > 0; logins--) {
    const principal = await signedIn();
    for (let opened = 1; opened < STREAMS_PER_LOGIN_MAX; opened++) events.open(principal);
    const last = events.open(principal);
    expect(refusalOf(principal)).toMatchObject(refusal);
    await last.cancel();
    events.open(principal);
  }
  expect(refusalOf(await signedIn())).toMatchObject(refusal);
  events.open(await signedIn(otherAdmin.user));
});

test("streams of policy revisions count towards the streams of their login", async () => {
  const principal = await signedIn();
  const options = { ...domain, ...world, loginWatch: domain.access.loginWatch, holders };
  const log = createLog({ level: "error", format: "json", write: () => {}, clock: world.clock });
  const revisions = new RevisionStreams({ ...options, log, metrics: new Registry() });
  for (let opened = 0; opened < STREAMS_PER_LOGIN_MAX; opened += 2) {
    events.open(principal);
    revisions.open(principal);
  }
  for (const full of [events, revisions]) expect(() => full.open(principal)).toThrow("event streams open");
  revisions.close();
  events.open(principal);
});

test("CON-115 an unread stream ends after 64 waiting parts", async () => {
  const stream = events.open(await signedIn());
  for (let part = 1; part < EVENTS_WAITING_MAX; part += 1) {
    world.clock.advance(HEARTBEAT_MS);
    events.beat();
  }
  const waiting = events.open(await signedIn());
  world.clock.advance(HEARTBEAT_MS);
  events.beat();
  expect((await saidBy(stream)).match(/^: heartbeat$/gm)).toHaveLength(EVENTS_WAITING_MAX - 1);
  await waiting.cancel();
});

test("CON-115 everybody who reads the console's pages may open its stream: administrators and auditors", async () => {
  await using open = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
  const ask = async (role: "admin" | "member", email?: string) => {
    const { cookie } = await open.signedIn(role, email === undefined ? {} : { email });
    const response = await open.request("GET", "/console/events", { cookie });
    await response.body?.cancel();
    return [response.status, response.headers.get("content-type")];
  };
  expect(await ask("admin")).toEqual([200, "text/event-stream"]);
  expect(await ask("member", "auditor@example.com")).toEqual([200, "text/event-stream"]);
  expect((await ask("member", "ana@example.com"))[0]).toBe(403);
  const response = await open.request("GET", "/console/events");
  expect([response.status, response.headers.get("location")]).toEqual([
    303,
    `/login?callbackURL=${encodeURIComponent("/console/events")}`,
  ]);
});

test("CON-115 only administrators may open the stream", async () => {
  const ask = ({ cookie }: { cookie: string }) => site.request("GET", "/admin/events", { cookie });
  expect((await ask(await site.signInAgain(member.user))).status).toBe(403);
  const response = await ask(await site.signInAgain(admin.user));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  await response.body?.cancel();
});
