// Captured sessions in the local store: uploads and downloads against a bare server that does the same, memory and policy fetches
// while eight of the largest uploads run, and announcements and completions against durable writes.
import { atLeast, atMost, contest, type Figure } from "../figures.ts";
import { startLoad } from "../processes.ts";
import { openBeside, temporaryDirectory } from "../tools/installation.ts";
import {
  announce,
  announcements,
  bareDownload,
  bareUpload,
  bareWrites,
  PER_USER,
  peakOf,
  proveAll,
  type SessionSite,
  startPeak,
  startSessionSite,
  transfer,
} from "./session-site.ts";

const ROUNDS = 7;
const LARGE_BYTES = 134_217_728;
const SMALL_BYTES = 200_000;
/** small uploads of one measure */
const SMALL_COUNT = 40;
const AT_ONCE = 8;
const WRITERS = 32;
const SECOND_MS = 1_000;

/** Required: 128 MiB in 1.3 times the time of a bare server, 200 KB in twice, downloads at 0.9 of its rate. */
export async function measureSessions(): Promise<Figure[]> {
  using directory = temporaryDirectory();
  await using site = await startSessionSite(directory.path);
  return [...(await uploads(site)), ...(await besideUploads(site)), ...(await announcing(site))];
}

async function uploads(site: SessionSite): Promise<Figure[]> {
  const [large] = await announce(site, 1, LARGE_BYTES);
  if (!large) throw new Error("one was announced");
  const small = (await announce(site, SMALL_COUNT, SMALL_BYTES)).map(({ upload }) => upload);
  const rate = (request: typeof large.upload, status: number) => async () =>
    SECOND_MS / (await transfer({ requests: [request], sizeBytes: LARGE_BYTES, atOnce: 1 }, status));
  const rates = (requests: readonly (typeof large.upload)[]) => async () =>
    (SECOND_MS * requests.length) / (await transfer({ requests, sizeBytes: SMALL_BYTES, atOnce: 1 }, 204));
  const unit = { unit: "transfers/s", rounds: ROUNDS };
  const first = await contest({
    ...{ what: "upload of 128 MiB", wanted: 0.77, ...unit },
    ours: rate(large.upload, 204),
    reference: rate(bareUpload(site), 204),
  });
  const second = await contest({
    ...{ what: "upload of 200 KB", wanted: 0.5, ...unit },
    ours: rates(small),
    reference: rates(small.map(() => bareUpload(site))),
  });
  const download = await downloadOf(site, large.complete);
  const third = await contest({
    ...{ what: "download of 128 MiB", wanted: 0.9, ...unit },
    ours: rate(download, 200),
    reference: rate(bareDownload(site, LARGE_BYTES), 200),
  });
  return [first, second, third];
}

async function downloadOf(
  site: SessionSite,
  complete: { url: string; headers?: Readonly<Record<string, string>> },
) {
  const headers = { ...complete.headers };
  await fetch(complete.url, { method: "POST", headers });
  const origin = `http://127.0.0.1:${site.service.port}`;
  const id = await sessionOf(site, complete.url);
  const answer = await fetch(`${origin}/session-uploads/${id}/download`, { method: "POST", headers });
  const { download_url: url } = await answer.json();
  return { url, method: "GET" };
}

async function sessionOf({ data, service }: SessionSite, completeUrl: string): Promise<string> {
  const installation = await openBeside(data, service.port);
  const [, uploadId = ""] = /session-uploads\/([^/]+)/.exec(completeUrl) ?? [];
  const { organizationId } = installation;
  const artifact = installation.domain.sessions.artifact({ organizationId, id: uploadId });
  await installation.close();
  return artifact?.sessionId ?? "";
}

const POLLING = { connections: 16, seconds: 4 };

async function besideUploads(site: SessionSite): Promise<Figure[]> {
  const { service, tokens } = site;
  const headers = { Authorization: `Bearer ${tokens[0]}`, "X-Blue-Contract-Version": "4" };
  const requests = [{ method: "GET", path: "/governance-config", headers }];
  const polls = () => startLoad({ port: service.port, requests, ...POLLING });
  const alone = await polls().result;
  const targets = (await announce(site, AT_ONCE + 1, LARGE_BYTES)).slice(1).map(({ upload }) => upload);
  const all = () => transfer({ requests: targets, sizeBytes: LARGE_BYTES, atOnce: AT_ONCE }, 204);
  const idleMb = startPeak(service);
  await all();
  const peakMb = peakOf(service);
  const running = polls();
  const together = running.result;
  while (await Promise.race([together.then(() => false), all().then(() => true)]));
  const beside = await together;
  const rate = beside.perSecond / alone.perSecond;
  const tail = beside.p99Ms / alone.p99Ms;
  const overIdle = peakMb - idleMb;
  return [
    {
      what: "memory over idle, 8 uploads of 128 MiB",
      unit: "MiB",
      ours: overIdle,
      verdict: atMost(96, overIdle),
    },
    {
      ...{ what: "policy fetches beside 8 uploads", unit: "requests/s", ours: beside.perSecond },
      ...{ reference: alone.perSecond, ratio: rate, verdict: atLeast(0.5, rate) },
    },
    {
      ...{ what: "their 99th percentile", unit: "ms", ours: beside.p99Ms },
      ...{ reference: alone.p99Ms, ratio: tail, verdict: atMost(4, tail) },
    },
  ];
}

async function announcing(site: SessionSite): Promise<Figure[]> {
  const count = PER_USER * site.tokens.length;
  const rateOf = async (requests: Parameters<typeof transfer>[0]["requests"]) =>
    (SECOND_MS * requests.length) / (await transfer({ requests, sizeBytes: 0, atOnce: WRITERS }, 200));
  const presign = announcements(site, count, SMALL_BYTES);
  const writes = bareWrites(site, count);
  const first = await rateOf(presign);
  const firstBare = await rateOf(writes);
  const announced = await announce(site, count, SMALL_BYTES);
  await proveAll(site);
  const second = await rateOf(announced.map(({ complete }) => complete));
  const secondBare = await rateOf(writes);
  return [figure("announcements", first, firstBare), figure("completions", second, secondBare)];
}

const figure = (what: string, ours: number, reference: number): Figure => ({
  ...{ what, unit: "requests/s", ours, reference, ratio: ours / reference },
  verdict: atLeast(0.5, ours / reference),
});
