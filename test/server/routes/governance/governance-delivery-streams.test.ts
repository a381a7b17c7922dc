// GET /governance-config/events: the events and their times, everything that ends a stream, and callers who do not read
// or who disconnect. Heartbeats are sent by the test where their number matters; test/bench/revision-streams.ts has
// five thousand streams.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Registry } from "prom-client";
import { grants } from "../../../../src/domain/access/tables.ts";
import { governanceRevisions } from "../../../../src/domain/governance/tables.ts";
import { openDatabase, type Tx } from "../../../../src/platform/database/database.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import {
  STREAMS_PER_LOGIN_MAX,
  STREAMS_PER_USER_MAX,
  StreamHolders,
} from "../../../../src/server/http/event-streams.ts";
import {
  BEAT_MS,
  EVENTS_WAITING_MAX,
  KEEPALIVE_MS,
  PARTS,
  RevisionStreams,
  STREAMS_MAX,
} from "../../../../src/server/policy-api/revision-streams.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { publishFirst, publishPackages } from "../../../support/content/policy.ts";
import { createListeningServer, type ListeningServer } from "../../../support/network/listening-server.ts";
import { type Caller, createTestServer, METRICS_TOKEN, type TestServer } from "../../../support/server.ts";

const PATH = "/governance-config/events";

let site: TestServer;
let ana: Caller;
let streams: RevisionStreams;
let metrics: Registry;
let complaints: string[];
let first: string;
beforeEach(async () => {
  site = await createTestServer({ limits: { deviceCodesPerAddress: 1_000 } });
  ana = await site.signedIn("member");
  first = await publishFirst(site);
  complaints = [];
  metrics = new Registry();
  const { domain, world } = site;
  const write = (line: string) => void complaints.push(line);
  streams = new RevisionStreams({
    ...domain,
    loginWatch: domain.access.loginWatch,
    holders: new StreamHolders(),
    clock: world.clock,
    log: createLog({ level: "debug", format: "json", write, clock: world.clock }),
    metrics,
  });
});
afterEach(async () => {
  streams.close();
  await site[Symbol.asyncDispose]();
});

const principalOf = async ({ accessToken }: Caller) => site.domain.access.authenticator.bearer(accessToken);
const open = async (caller = ana) => streams.open(await principalOf(caller));
const openMany = async (count: number, caller = ana) => {
  const principal = await principalOf(caller);
  return Array.from({ length: count }, () => streams.open(principal));
};
const publish = async (id: string) => (await publishPackages(site, { packages: [packageOf(id)] })).id;
const beats = (count: number) => {
  for (let beat = 0; beat < count; beat++) streams.beat();
};
const openCount = async (): Promise<number> =>
  Number(/^quartermaster_policy_streams (\d+)$/m.exec(await metrics.metrics())?.[1]);
/** @returns everything that was sent until the end; a stream without an end makes the test time out */
const saidBy = (stream: ReadableStream): Promise<string> => new Response(stream).text();
const idsIn = (text: string): string[] => [...text.matchAll(/^id: (.+)$/gm)].map(([, id = ""]) => id);
const eventOf = (id: string) => `event: revision\nid: ${id}\ndata: {"revision":"${id}"}\n`;
const warmthIn = (text: string): number => [...text.matchAll(/^: keepalive\n\n/gm)].length;

/** Changes rows like another process. */
async function elsewhere(change: (tx: Tx) => void): Promise<void> {
  const other = openDatabase(site.world.file);
  await other.write((tx) => {
    change(tx);
  });
  await other.close();
}

/** @returns the id of a revision like the first, with another document if given */
async function publishElsewhere(document?: string): Promise<string> {
  const id = site.world.ids.uuid();
  await elsewhere((tx) => {
    const [known] = tx.select().from(governanceRevisions).all();
    if (!known) throw new Error("there is a first revision");
    const { sequence: _ours, ...row } = known;
    tx.insert(governanceRevisions)
      .values({ ...row, id, ...(document !== undefined && { document }) })
      .run();
  });
  return id;
}

describe("a stream", () => {
  test("begins with the current revision and the time to reconnect", async () => {
    const stream = await open();
    streams.close();
    const said = await saidBy(stream);
    expect(said.startsWith(`${eventOf(first)}retry: `)).toBe(true);
    const retryMs = Number(/^retry: (\d+)\n\n$/m.exec(said)?.[1]);
    expect(retryMs).toBeGreaterThanOrEqual(2_000);
    expect(retryMs).toBeLessThanOrEqual(10_000);
  });

  test("USE-6 sends every revision once and in order, even if several are published between two timer ticks", async () => {
    const stream = await open();
    const early = await publish("a");
    const late = await publish("b");
    const second = await open();
    beats(2);
    const last = await publish("c");
    beats(2);
    streams.close();
    const said = await saidBy(stream);
    expect(idsIn(said)).toEqual([first, early, late, last]);
    expect(said).toContain(`\n\n${eventOf(last)}\n`);
    expect(idsIn(await saidBy(second))).toEqual([late, last]);
  });

  test("sends revisions that another process published", async () => {
    const stream = await open();
    const id = await publishElsewhere();
    beats(1);
    streams.close();
    expect(idsIn(await saidBy(stream))).toEqual([first, id]);
  });

  test("sends revisions to callers that connect after all others have left", async () => {
    await (await open()).cancel();
    await publish("a");
    const later = await open();
    const last = await publish("b");
    beats(1);
    streams.close();
    expect(idsIn(await saidBy(later)).slice(1)).toEqual([last]);
  });

  test("sends a keepalive every fifteen seconds, spread over time", async () => {
    expect(PARTS * BEAT_MS).toBe(KEEPALIVE_MS);
    const all = await openMany(2 * PARTS);
    beats(1);
    const others = await openMany(PARTS, await site.signInAgain(ana.user));
    beats(PARTS);
    streams.close();
    const warmth = (await Promise.all(all.map(saidBy))).map(warmthIn);
    expect(warmth.filter((times) => times === 2)).toHaveLength(2);
    expect(warmth.filter((times) => times === 1)).toHaveLength(2 * PARTS - 2);
    expect((await Promise.all(others.map(saidBy))).map(warmthIn)).toEqual(Array(PARTS).fill(1));
  });
});

describe("a stream ends", () => {
  test("ends with the access token, to the millisecond", async () => {
    const stream = await open();
    const { expiresAtMs } = await principalOf(ana);
    site.world.clock.set(expiresAtMs - 1);
    beats(1);
    expect(await openCount()).toBe(1);
    site.world.clock.set(expiresAtMs);
    beats(1);
    expect(idsIn(await saidBy(stream))).toEqual([first]);
    expect(await openCount()).toBe(0);
  });

  test("lasts at least one second, even with a token about to expire", async () => {
    const principal = await principalOf(ana);
    site.world.clock.set(principal.expiresAtMs + 1);
    streams.open(principal);
    beats(1);
    expect(await openCount()).toBe(1);
    site.world.clock.advance(1_000);
    beats(1);
    expect(await openCount()).toBe(0);
  });

  const takings: Record<string, () => Promise<unknown>> = {
    "its logins are revoked": () => site.domain.identity.users.revokeLogins(site.world.system, ana.user.id),
    "its user is suspended": () =>
      site.domain.identity.users.setStatus(site.world.system, ana.user.id, "suspended"),
    "its user gets another role": () =>
      site.domain.identity.users.setRole(site.world.system, ana.user.id, "admin"),
    "its user is removed": () => site.domain.identity.users.remove(site.world.system, ana.user.id),
    "another process revokes its grant": () =>
      elsewhere((tx) =>
        tx.update(grants).set({ revokedAtMs: 1 }).where(eq(grants.userId, ana.user.id)).run(),
      ),
    "another process removes its grant": () =>
      elsewhere((tx) => {
        tx.run("DELETE FROM refresh_tokens");
        tx.delete(grants).where(eq(grants.userId, ana.user.id)).run();
      }),
  };
  test.each(Object.entries(takings))("ends when %s, and leaves the others open", async (_name, take) => {
    const other = await open(await site.signedIn("member"));
    const stream = await open();
    beats(1);
    expect(await openCount()).toBe(2);
    await take();
    beats(1);
    expect(idsIn(await saidBy(stream))).toEqual([first]);
    expect(await openCount()).toBe(1);
    await other.cancel();
  });

  test("ends with the sign-in of its browser, while the workstation's stream stays open", async () => {
    const browsers = streams.open(site.domain.access.authenticator.session(ana.sessionToken));
    const stream = await open();
    await site.request("POST", "/api/auth/sign-out", { cookie: ana.cookie });
    beats(1);
    expect(idsIn(await saidBy(browsers))).toEqual([first]);
    expect(await openCount()).toBe(1);
    await stream.cancel();
  });

  test("ends when its caller does not read the waiting events", async () => {
    const [stream] = await openMany(1); // its first event is already waiting
    beats(PARTS * (EVENTS_WAITING_MAX - 1));
    expect(await openCount()).toBe(1);
    beats(PARTS);
    expect(await openCount()).toBe(0);
    const said = await saidBy(stream ?? new ReadableStream());
    expect([idsIn(said), warmthIn(said)]).toEqual([[first], EVENTS_WAITING_MAX - 1]);
  });

  test("once, even if more events are due than the stream may hold", async () => {
    const [stream] = await openMany(1);
    beats(PARTS * (EVENTS_WAITING_MAX - 2));
    const ids = [await publish("a"), await publish("b"), await publish("c")];
    beats(1);
    expect(await openCount()).toBe(0);
    expect(idsIn(await saidBy(stream ?? new ReadableStream()))).toEqual([first, ...ids.slice(0, 1)]);
    expect(complaints).toEqual([]);
  });

  test("ends when a revision may be missing, with the reason in the log", async () => {
    const stream = await open();
    await publishElsewhere("{");
    expect(idsIn(await saidBy(stream))).toEqual([first]); // the timer detected it
    expect(complaints.join()).toContain("governance.streams_ended");
  });

  test("ends with the service, and no new stream begins", async () => {
    const stream = await open();
    streams.close();
    expect(idsIn(await saidBy(stream))).toEqual([first]);
    expect(await open().catch((refusal) => refusal)).toMatchObject({
      kind: "unavailable",
      reason: "service.stopping",
    });
  });
});

const tooMany = { kind: "too_many", reason: "governance.too_many_streams", retryAfterSeconds: 60 };
const refusalOf = async (caller: Caller) => await open(caller).catch((refusal) => refusal);

describe("one login", () => {
  test("has at most STREAMS_PER_LOGIN_MAX streams, separate from other logins of the user", async () => {
    await openMany(STREAMS_PER_LOGIN_MAX - 1);
    const last = await open();
    expect(await refusalOf(ana)).toMatchObject(tooMany);
    await open(await site.signInAgain(ana.user));
    await last.cancel();
    await open();
    expect(await refusalOf(ana)).toMatchObject(tooMany);
  });

  test("limits the streams of a browser", async () => {
    const browser = site.domain.access.authenticator.session(ana.sessionToken);
    for (let opened = 0; opened < STREAMS_PER_LOGIN_MAX; opened++) streams.open(browser);
    expect(() => streams.open(browser)).toThrow(`this login has ${STREAMS_PER_LOGIN_MAX} event streams open`);
    await open();
  });

  test("may open new streams after the service ends the old ones", async () => {
    const { expiresAtMs } = await principalOf(ana);
    await openMany(STREAMS_PER_LOGIN_MAX);
    const fresh = await principalOf(ana);
    site.world.clock.set(expiresAtMs);
    beats(1);
    for (let opened = 0; opened < STREAMS_PER_LOGIN_MAX; opened++) streams.open(fresh);
    expect(await openCount()).toBe(STREAMS_PER_LOGIN_MAX);
  });
});

test("one user has at most STREAMS_PER_USER_MAX streams over all logins, separate from other users", async () => {
  const logins = STREAMS_PER_USER_MAX / STREAMS_PER_LOGIN_MAX;
  const callers = [ana, ...(await signInOften(ana.user, logins))];
  const spare = callers.pop() ?? ana;
  const opened = await Promise.all(callers.map((caller) => openMany(STREAMS_PER_LOGIN_MAX - 1, caller)));
  await openMany(STREAMS_PER_USER_MAX - opened.flat().length - 1, spare);
  await open(spare);
  expect(await refusalOf(spare)).toMatchObject({
    ...tooMany,
    message: expect.stringContaining(`this user has ${STREAMS_PER_USER_MAX}`),
  });
  await open(await site.signedIn("member"));
  await opened[0]?.[0]?.cancel();
  await open(spare);
  expect(await refusalOf(spare)).toMatchObject(tooMany);
});

/** @returns callers of one user, each with its own grant */
const signInOften = (user: Caller["user"], count: number): Promise<Caller[]> =>
  Promise.all(Array.from({ length: count }, () => site.signInAgain(user)));

/** @returns callers who may open `count` streams together */
async function callersOf(count: number): Promise<Caller[]> {
  const loginsPerUser = STREAMS_PER_USER_MAX / STREAMS_PER_LOGIN_MAX;
  const users = Math.ceil(count / STREAMS_PER_USER_MAX);
  const first = await Promise.all(Array.from({ length: users }, () => site.signedIn("member")));
  const others = await Promise.all(first.map(({ user }) => signInOften(user, loginsPerUser - 1)));
  return [...first, ...others.flat()];
}

test("opens at most STREAMS_MAX streams, and replaces one that is closed", async () => {
  const callers = await callersOf(STREAMS_MAX);
  const opened: ReadableStream[] = [];
  for (const caller of callers) {
    const count = Math.min(STREAMS_PER_LOGIN_MAX, STREAMS_MAX - opened.length);
    opened.push(...(await openMany(count, caller)));
  }
  expect(await openCount()).toBe(STREAMS_MAX);
  expect(await refusalOf(ana)).toMatchObject({
    kind: "unavailable",
    reason: "governance.streams_full",
    retryAfterSeconds: 60,
  });
  await opened[0]?.cancel();
  await open();
  expect(await openCount()).toBe(STREAMS_MAX);
});

describe("the socket", () => {
  let service: ListeningServer;
  let ben: Caller;
  beforeEach(async () => {
    service = await createListeningServer();
    ben = await service.signedIn("member");
  });
  afterEach(() => service[Symbol.asyncDispose]());

  const ask = (method = "GET") =>
    fetch(`${service.origin}${PATH}`, { method, headers: { authorization: `Bearer ${ben.accessToken}` } });
  const countOpen = async (): Promise<number> => {
    const page = await (await service.request("GET", "/metrics", { token: METRICS_TOKEN })).text();
    return Number(/^quartermaster_policy_streams (\d+)$/m.exec(page)?.[1]);
  };
  const decoder = new TextDecoder();
  /** @returns the ids of this many events, as they arrive */
  async function idsOf(body: ReadableStream<Uint8Array> | null, count: number): Promise<string[]> {
    const reader = body?.getReader();
    const ids: string[] = [];
    while (reader && ids.length < count) {
      const { value, done } = await reader.read();
      if (done) break;
      ids.push(...idsIn(decoder.decode(value)));
    }
    reader?.releaseLock();
    return ids;
  }

  test("a workstation receives a new revision without asking, and the headers forbid proxies to buffer", async () => {
    const id = await publishFirst(service);
    const response = await ask();
    const { headers } = response;
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect([headers.get("cache-control"), headers.get("x-accel-buffering")]).toEqual(["no-store", "no"]);
    expect(await idsOf(response.body, 1)).toEqual([id]);
    const next = await publishPackages(service, { packages: [packageOf("a")] });
    expect(await idsOf(response.body, 1)).toEqual([next.id]);
  });

  test("sends no event before the first policy", async () => {
    const response = await ask();
    expect([response.status, (await response.json()).reason]).toEqual([404, "governance.no_policy"]);
  });

  test("the stream of a revoked workstation ends", async () => {
    await publishFirst(service);
    const response = await ask();
    await service.domain.identity.users.revokeLogins(service.world.system, ben.user.id);
    expect(idsIn(await response.text())).toHaveLength(1);
    expect((await ask()).status).toBe(401);
  });

  test("a disconnected caller is forgotten, and HEAD leaves nothing open", async () => {
    await publishFirst(service);
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${ben.accessToken}` };
    const response = await fetch(`${service.origin}${PATH}`, { headers, signal: leaving.signal });
    await idsOf(response.body, 1);
    expect(await countOpen()).toBe(1);
    leaving.abort();
    expect((await ask("HEAD")).status).toBe(200);
    while ((await countOpen()) > 0) await Bun.sleep(1); // until the end of the socket has arrived
    expect(await countOpen()).toBe(0);
  });

  test("the first stream beyond the limit of a login is refused with 429 and a time to retry", async () => {
    await publishFirst(service);
    const all = await Promise.all(Array.from({ length: STREAMS_PER_LOGIN_MAX }, () => ask()));
    const response = await ask();
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "60"]);
    expect((await response.json()).reason).toBe("governance.too_many_streams");
    await all[0]?.body?.cancel();
    while ((await countOpen()) === STREAMS_PER_LOGIN_MAX) await Bun.sleep(1); // until the end of the socket has arrived
    expect((await ask()).status).toBe(200);
  });

  test("open streams do not prevent the service from stopping", async () => {
    await publishFirst(service);
    const response = await ask();
    const stopped = service[Symbol.asyncDispose]();
    expect(idsIn(await response.text())).toHaveLength(1);
    await stopped;
  });
});
