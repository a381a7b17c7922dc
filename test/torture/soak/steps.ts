// The steps of a soak: a fleet, people, an identity provider and unauthenticated callers use every part of the product.
// A step removes what it creates beyond a bound, so that only the database has a reason to grow.
import { SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import { navigationFor } from "../../../src/server/console/frame/navigation.ts";
import { BENCH_HEADER } from "../../bench/inference/inference-load.ts";
import { announcementOf } from "../../support/content/sessions.ts";
import { type Caller, provisionedName, publications, refreshes, reports, signIns } from "../callers.ts";
import { EMAIL, PASSWORD, SCIM_TOKEN, type Site, type Workstation } from "../site.ts";
import { bearer, sendRaw, succeed, visit } from "./requests.ts";

export interface Step {
  name: string;
  /** how often, relative to the others */
  weight: number;
  /** its duration shows how fast the service is */
  isTimed: boolean;
  take(): Promise<unknown>;
}

const STREAM_MS = 2_000;
const SESSION_BYTES = 200_000;
const RANDOM_BYTES = 65_536;
/** number that a step keeps before it removes the oldest */
const STANDING = 20;
const CHAT = "/inference/v1/chat/completions";
/** how long an inference token is used */
const TOKEN_MS = 120_000;
const JSON_TYPE = { "content-type": "application/json" };

const one = <T>(list: readonly T[]): T => {
  const found = list[Math.floor(Math.random() * list.length)];
  if (found === undefined) throw new Error("an empty list has none");
  return found;
};

/** @returns every step; prepares the users and workstations that the steps need */
export async function stepsOn(site: Site): Promise<Step[]> {
  const [administrator, ...others] = site.workstations;
  if (!administrator) throw new Error("a site has workstations");
  const renewing = refreshers(site);
  return [
    ...workstationSteps(site, { administrator, others, renewing }),
    ...sessionSteps(site, others.slice(0, 8)),
    ...inferenceSteps(site, others.slice(8, 24)),
    ...provisioningSteps(site),
    ...(await consoleSteps(site)),
    ...strangers(site),
  ];
}

const timed = (name: string, weight: number, take: Step["take"]): Step => ({
  name,
  weight,
  take,
  isTimed: true,
});

const waiting = (name: string, weight: number, take: Step["take"]): Step => ({
  ...timed(name, weight, take),
  isTimed: false,
});

interface Fleet {
  administrator: Workstation;
  others: readonly Workstation[];
  renewing: () => Promise<void>;
}

function workstationSteps(site: Site, { administrator, others, renewing }: Fleet): Step[] {
  const reporting = others.slice(24).map((workstation) => reports(site, workstation));
  return [
    timed("policy", 6, () => visit(site, "/governance-config", { headers: bearer(one(others)) })),
    timed("report", 6, () => onlyOnce(one(reporting))),
    timed("refresh", 3, renewing),
    timed("publication", 0.1, once(publications(site, administrator))),
    waiting("policy events", 1, () => listen(site, one(others))),
    timed("backup", 0.01, () =>
      visit(site, "/admin/jobs/backup/run", { method: "POST", headers: bearer(administrator) }),
    ),
    timed("doctor", 0.02, () => visit(site, "/admin/doctor", { headers: bearer(administrator) })),
  ];
}

const busy = new WeakSet<Caller>();

/** A caller's ledger supports one change at a time. */
async function onlyOnce(caller: Caller): Promise<void> {
  if (busy.has(caller)) return;
  busy.add(caller);
  try {
    await caller.change();
  } finally {
    busy.delete(caller);
  }
}

const once = (caller: Caller) => () => onlyOnce(caller);

/** The tokens of all workstations are replaced in turn, so that none expires. */
function refreshers(site: Site): () => Promise<void> {
  const callers = site.workstations.map((workstation) => refreshes(site, workstation));
  let at = 0;
  return async () => {
    const caller = callers[at++ % callers.length];
    if (caller) await onlyOnce(caller);
  };
}

/** Follows the policy for a while, and disconnects. */
async function listen({ baseUrl }: Site, workstation: Workstation): Promise<void> {
  const hangUp = new AbortController();
  const path = `${baseUrl}/governance-config/events`;
  const response = await fetch(path, { headers: bearer(workstation), signal: hangUp.signal });
  if (response.status !== 200) throw new Error(`the events were answered ${response.status}`);
  await Bun.sleep(Math.random() * STREAM_MS);
  hangUp.abort();
}

function sessionSteps(site: Site, workstations: readonly Workstation[]): Step[] {
  const listed = async (workstation: Workstation): Promise<string[]> => {
    const { status, body } = await visit(site, "/session-uploads", { headers: bearer(workstation) });
    if (status !== 200) throw new Error(`the list of sessions was answered ${status}`);
    return JSON.parse(body).items.map(({ id }: { id: string }) => id);
  };
  const upload = async () => {
    const workstation = one(workstations);
    const bytes = new Uint8Array(SESSION_BYTES);
    crypto.getRandomValues(bytes.subarray(0, RANDOM_BYTES));
    const announced = announcementOf(bytes, { session_id: crypto.randomUUID() });
    const headers = { ...bearer(workstation), ...JSON_TYPE };
    const body = JSON.stringify(announced);
    const response = await fetch(`${site.baseUrl}/session-uploads/presign`, {
      method: "POST",
      headers,
      body,
    });
    if (response.status !== 200) throw new Error(`presign: ${response.status} ${await response.text()}`);
    const target = await response.json();
    await succeed(site, target.upload_url, { method: "PUT", headers: target.headers, body: bytes });
    await succeed(site, target.complete_url, { method: "POST", headers: bearer(workstation) });
    const ids = await listed(workstation);
    // Simultaneous uploads may find the same excess one, so each upload removes all excess ones.
    for (const id of ids.slice(STANDING))
      await visit(site, `/session-uploads/${id}`, { method: "DELETE", headers: bearer(workstation) });
  };
  /** Another step may have removed the session in the meantime. */
  const download = async () => {
    const workstation = one(workstations);
    const ids = await listed(workstation);
    if (ids.length === 0) return;
    const path = `/session-uploads/${one(ids)}/download`;
    const { status, body } = await visit(site, path, { method: "POST", headers: bearer(workstation) });
    if (status === 200) await visit(site, JSON.parse(body).download_url);
  };
  return [timed("session upload", 0.5, upload), timed("session download", 0.5, download)];
}

function inferenceSteps(site: Site, workstations: readonly Workstation[]): Step[] {
  const tokens = new Map<Workstation, { token: string; untilMs: number }>();
  const tokenOf = async (workstation: Workstation): Promise<string> => {
    const known = tokens.get(workstation);
    if (known && known.untilMs > performance.now()) return known.token;
    const request = { method: "POST", headers: bearer(workstation) };
    await succeed(site, "/gateway/key/ensure", request);
    const { token = "" } = await succeed(site, "/gateway/token", request);
    tokens.set(workstation, { token, untilMs: performance.now() + TOKEN_MS });
    return token;
  };
  const ask = async (response: "json" | "paced", hangUp?: AbortSignal) => {
    const token = await tokenOf(one(workstations));
    const headers = { authorization: `Bearer ${token}`, ...JSON_TYPE, [BENCH_HEADER]: response };
    const body = JSON.stringify({
      model: "bench",
      stream: response === "paced",
      messages: [{ role: "user", content: "a".repeat(1_900) }],
    });
    const { status } = await visit(site, CHAT, {
      method: "POST",
      headers,
      body,
      ...(hangUp && { signal: hangUp }),
    });
    if (status !== 200) throw new Error(`inference was answered ${status}`);
  };
  const leave = () => ask("paced", AbortSignal.timeout(Math.random() * 800)).catch(ignoreAbort);
  return [
    timed("inference", 3, () => ask("json")),
    waiting("inference stream", 2, () => ask("paced")),
    waiting("inference stream, left", 1, leave),
  ];
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof DOMException)) throw error;
}

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";

/** Users come and go, and some change. */
function provisioningSteps(site: Site): Step[] {
  const headers = { authorization: `Bearer ${SCIM_TOKEN}`, "content-type": "application/scim+json" };
  const standing: string[] = [];
  const churn = async () => {
    const userName = `user-${crypto.randomUUID()}@example.com`;
    const body = JSON.stringify({ schemas: [USER], userName });
    const { id = "" } = await succeed(site, "/scim/v2/Users", { method: "POST", headers, body });
    standing.push(id);
    const oldest = standing.length > STANDING ? standing.shift() : undefined;
    if (oldest !== undefined) await succeed(site, `/scim/v2/Users/${oldest}`, { method: "DELETE", headers });
  };
  const names = Array.from({ length: 4 }, () => provisionedName(site));
  return [
    timed("provisioned user", 1, churn),
    timed("changed user", 1, () => onlyOnce(one(names))),
    timed("list of users", 0.5, () => visit(site, "/scim/v2/Users?count=50", { headers })),
  ];
}

/** An administrator who is signed in opens every page. */
async function consoleSteps(site: Site): Promise<Step[]> {
  const body = JSON.stringify({ email: EMAIL, password: PASSWORD });
  const { token } = await succeed(site, "/api/auth/sign-in/email", {
    method: "POST",
    headers: JSON_TYPE,
    body,
  });
  const headers = { cookie: `${SESSION_COOKIE}=${token}` };
  const pages = navigationFor(true, () => true).flatMap(({ links }) => links.map(({ href }) => href));
  const open = async () => {
    const { status } = await visit(site, one(pages), { headers });
    if (status !== 200) throw new Error(`a page of the console was answered ${status}`);
  };
  return [timed("console page", 3, open), waiting("sign-in", 0.2, once(signIns(site)))];
}

function strangers(site: Site): Step[] {
  const body = new URLSearchParams({ client_id: "blue-cli" });
  const paths = ["/login", "/openapi.json", "/ready", "/nothing", "/admin/client-status", "/metrics"];
  return [
    timed("device login", 0.5, () => visit(site, "/api/auth/device/code", { method: "POST", body })),
    timed("stranger", 2, () => visit(site, one(paths))),
    waiting("strange bytes", 1, () => sendRaw(site, one(STRANGE))),
  ];
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
