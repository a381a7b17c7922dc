// The memory of cached tokens, and the refusal of the first request after a revocation, for any number of cached
// tokens.
import { decodeJwt } from "jose";
import { atMost, type Figure } from "../figures.ts";
import { cleanEnvironment, ownMb, quartermaster, type Running, residentMb } from "../processes.ts";
import { logIn, openBeside } from "../tools/installation.ts";
import { costOf, firstToken, type Site, start, WORKSTATIONS } from "./token-site.ts";

/** Numbers of cached tokens at which memory is measured. */
const STEPS = [10_000, 200_000, 1_000_000].filter((tokens) => tokens <= WORKSTATIONS);
const MEMORY_MB_MAX = 350;
const REQUESTS_AFTER = 500;
/** garbage collections happen in between */
const SAMPLES = 5;
const SAMPLE_EVERY_MS = 1_000;
const BYTES_PER_MB = 2 ** 20;

/** Measures the memory of known tokens. */
export async function measureMemory(site: Site): Promise<Figure[]> {
  await using servers = new AsyncDisposableStack();
  const service = await start(site.data, site.port);
  servers.defer(service.stop);
  const taken: { tokens: number; mb: number }[] = [];
  const figures: Figure[] = [];
  for (const tokens of STEPS) {
    const from = taken.at(-1)?.tokens ?? 0;
    const count = tokens - from;
    await costOf(site, service, { what: "policy", requests: count, from, count });
    const mb = await lowest(() => residentMb(service.pid));
    const former = taken.at(-1);
    taken.push({ tokens, mb });
    figures.push({
      what: `memory with ${tokens.toLocaleString("en-US")} remembered tokens`,
      unit: "MB",
      ours: mb,
      reference: await lowest(() => ownMb(service.pid)),
      verdict: atMost(MEMORY_MB_MAX, mb),
    });
    if (!former) continue;
    const slope = ((mb - former.mb) * BYTES_PER_MB) / count;
    const what = `memory of one more workstation, from ${former.tokens.toLocaleString("en-US")} on`;
    figures.push({ what, unit: "bytes", ours: slope });
  }
  return [...figures, ...(await revocations(site, service))];
}

async function lowest(look: () => Promise<number>): Promise<number> {
  let mb = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < SAMPLES; sample++) {
    mb = Math.min(mb, await look());
    await Bun.sleep(SAMPLE_EVERY_MS);
  }
  return mb;
}

async function revocations(site: Site, { port }: Running): Promise<Figure[]> {
  const fleetToken = await firstToken(site.traffic.tokens);
  const others = await acceptedAfter(site, fleetToken, () => revokeBeside(site, fleetToken));
  const installation = await openBeside(site.data, port);
  const [login] = await logIn(installation, 1);
  await installation.close();
  const { access_token: token = "", refresh_token: refreshToken = "" } = login ?? {};
  const ours = await acceptedAfter(site, token, async () => {
    const body = new URLSearchParams({ token: refreshToken, client_id: "blue-cli" });
    const answer = await fetch(`http://127.0.0.1:${port}/api/auth/oauth2/revoke`, { method: "POST", body });
    if (!answer.ok) throw new Error(`the login was not revoked: ${await answer.text()}`);
  });
  const told = (by: string, accepted: number): Figure => ({
    what: `accepted of ${REQUESTS_AFTER} requests after a revocation by ${by}`,
    unit: "requests",
    ours: accepted,
    verdict: { wanted: "0", isMet: accepted === 0 },
  });
  return [told("another process", others), told("the service", ours)];
}

async function revokeBeside({ data }: Site, token: string): Promise<void> {
  const grantId = String(decodeJwt(token).grant_id);
  const revoking = Bun.spawn(quartermaster("logins", "revoke", grantId, "--yes", "--data-dir", data), {
    env: cleanEnvironment(),
    stdout: "ignore",
  });
  if ((await revoking.exited) !== 0) throw new Error("the login was not revoked");
}

/** @returns requests that were not refused, of those sent after the revocation */
async function acceptedAfter(
  { port, traffic }: Site,
  token: string,
  revoke: () => Promise<void>,
): Promise<number> {
  const ask = async () => {
    const headers = { ...traffic.headers, "If-None-Match": traffic.etag, Authorization: `Bearer ${token}` };
    return (await fetch(`http://127.0.0.1:${port}/governance-config`, { headers })).status;
  };
  const before = await ask();
  if (before !== 304) throw new Error(`not let in before the revocation: ${before}`);
  await revoke();
  let accepted = 0;
  for (let sent = 0; sent < REQUESTS_AFTER; sent++) if ((await ask()) !== 401) accepted += 1;
  return accepted;
}
