// Ten minutes of everything that a fleet, people and strangers do, at a steady pace: memory and descriptors stay flat, no
// answer is a failure of ours, and the log has none.
import { statSync } from "node:fs";
import { connect } from "node:net";
import { atMost, type Figure } from "../bench/figures.ts";
import { publishPolicies } from "../bench/fleet/workstations.ts";
import {
  type Caller,
  provisionedName,
  provisionedUsers,
  publications,
  refreshes,
  reports,
  signIns,
} from "./callers.ts";
import { follow, typical } from "./footprint.ts";
import { createSite, errorsIn, type Site, stop, type Workstation } from "./site.ts";

const SECONDS = 600;
const WORKSTATIONS = 40;
/** each waits up to twice this before its next step */
const LOOPS = 24;
const PAUSE_MS = 400;
/** of the median in the second quarter: the first one warms up */
const MEMORY_GROWTH_MAX = 1.1;
const DESCRIPTORS_MORE_MAX = 3;
const STREAM_MS = 2_000;

type Step = () => Promise<unknown>;

/** Uses the service for a long time and checks that its memory and files stay bounded. */
export async function soak(seconds = SECONDS): Promise<Figure[]> {
  using site = await createSite({ workstations: WORKSTATIONS, prepare: publishPolicies });
  await using service = await site.start();
  const steps = stepsOn(site);
  const ended = follow(service.pid);
  let taken = 0;
  const until = performance.now() + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < until) {
      await steps[Math.floor(Math.random() * steps.length)]?.();
      taken += 1;
      await Bun.sleep(Math.random() * 2 * PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
  const samples = ended();
  const quarter = Math.floor(samples.length / 4);
  const [early, late] = [typical(samples.slice(quarter, 2 * quarter)), typical(samples.slice(-quarter))];
  const growth = late.memoryMb / early.memoryMb;
  const walMb = statSync(`${site.database}-wal`).size / 2 ** 20;
  const failures = errorsIn(service);
  for (const failure of failures.slice(0, 20)) console.error(failure);
  await stop(service);
  const what = (name: string) => `soak of ${seconds} s: ${name}`;
  return [
    { what: what("steps"), unit: "steps", ours: taken },
    {
      what: what("memory"),
      unit: "MB",
      ours: late.memoryMb,
      reference: early.memoryMb,
      ratio: growth,
      verdict: atMost(MEMORY_GROWTH_MAX, growth),
    },
    {
      what: what("descriptors"),
      unit: "open",
      ours: late.descriptors,
      reference: early.descriptors,
      verdict: atMost(early.descriptors + DESCRIPTORS_MORE_MAX, late.descriptors),
    },
    { what: what("write-ahead log"), unit: "MB", ours: walMb },
    { what: what("failures"), unit: "log lines", ours: failures.length, verdict: atMost(0, failures.length) },
  ];
}

/** Each is as likely as the others. */
function stepsOn(site: Site): Step[] {
  const [administrator, ...others] = site.workstations;
  if (!administrator) throw new Error("a site has workstations");
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];
  const anyOf = (callers: readonly Caller[]) => () => onlyOnce(one(callers));
  const someone = () => one(others) ?? administrator;
  return [
    ...Array(6).fill(() => fetchPolicy(site, someone())),
    ...Array(6).fill(anyOf(others.slice(0, 20).map((workstation) => reports(site, workstation)))),
    ...Array(2).fill(anyOf(others.slice(20).map((workstation) => refreshes(site, workstation)))),
    anyOf([provisionedUsers(site)]),
    anyOf(Array.from({ length: 4 }, () => provisionedName(site))),
    anyOf([publications(site, administrator)]),
    anyOf([signIns(site)]),
    () => listen(site, someone()),
    () => beginLogin(site),
    ...["/login", "/openapi.json", "/ready", "/nothing", "/admin/client-status"].map(
      (path) => () => visit(site, path),
    ),
    ...STRANGE.map((bytes) => () => sendRaw(site, bytes)),
  ];
}

const busy = new WeakSet<Caller>();

/** A caller's ledger is for one change at a time. */
async function onlyOnce(caller: Caller | undefined): Promise<void> {
  if (!caller || busy.has(caller)) return;
  busy.add(caller);
  await caller.change();
  busy.delete(caller);
}

/** @throws when it is a failure of the service's */
async function visit({ baseUrl }: Site, path: string, init: RequestInit = {}): Promise<void> {
  const answer = await fetch(`${baseUrl}${path}`, init);
  await answer.bytes();
  if (answer.status >= 500) throw new Error(`${path} was answered ${answer.status}`);
}

const authorized = ({ accessToken }: Workstation): RequestInit => ({
  headers: { authorization: `Bearer ${accessToken}` },
});

const fetchPolicy = (site: Site, workstation: Workstation): Promise<void> =>
  visit(site, "/governance-config", authorized(workstation));

const beginLogin = (site: Site): Promise<void> =>
  visit(site, "/api/auth/device/code", {
    method: "POST",
    body: new URLSearchParams({ client_id: "blue-cli" }),
  });

/** Follows the policy for a while, and hangs up. */
async function listen({ baseUrl }: Site, workstation: Workstation): Promise<void> {
  const hangUp = new AbortController();
  const path = `${baseUrl}/governance-config/events`;
  const answer = await fetch(path, { ...authorized(workstation), signal: hangUp.signal });
  if (answer.status !== 200) throw new Error(`the events were answered ${answer.status}`);
  await Bun.sleep(Math.random() * STREAM_MS);
  hangUp.abort();
}

const SIGN_IN =
  "POST /api/auth/sign-in/email HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
const STRANGE = [
  "nonsense\r\n\r\n",
  `GET /${"a".repeat(50_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  `${SIGN_IN}Content-Length: 100\r\n\r\n{`,
  `${SIGN_IN}Transfer-Encoding: chunked\r\n\r\n5\r\n{`,
  "GET /governance-config HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n",
];

/** Sends bytes and hangs up. */
async function sendRaw({ port }: Site, bytes: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  const closed = Promise.withResolvers<void>();
  socket.on("close", closed.resolve);
  socket.on("error", () => {}); // it closes, too
  socket.resume();
  socket.end(bytes);
  await closed.promise;
}
