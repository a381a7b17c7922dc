// Captured sessions in the local store: uploads and downloads compared with a bare server that does the same, memory and policy
// fetches while eight of the largest uploads run, and announcements and completions compared with durable writes.
import { atLeast, atMost, contest, type Figure } from "../figures.ts";
import { peakMb, startLoad, startPeak } from "../processes.ts";
import { median } from "../tools/compare.ts";
import { openBeside, temporaryDirectory } from "../tools/installation.ts";
import {
  announce,
  announcements,
  bareDownload,
  bareUpload,
  bareWrites,
  PER_USER,
  proveAll,
  type Requests,
  type SessionSite,
  startSessionSite,
  transfer,
} from "./session-site.ts";

const ROUNDS = 7;
const LARGE_BYTES = 134_217_728;
const SMALL_BYTES = 200_000;
/** small uploads of one measurement */
const SMALL_COUNT = 40;
const AT_ONCE = 8;
const WRITERS = 32;
/** of announcements and completions */
const WRITE_ROUNDS = 3;
const SECOND_MS = 1_000;

/** Required: 128 MiB in 1.3 times the time of a bare server, 200 KB in twice its time, downloads at 0.9 of its rate. */
export async function* measureSessions(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using site = await startSessionSite(directory.path);
  const largest = await announceLargest(site);
  yield await memoryOver(site, largest);
  yield* await uploads(site);
  yield* await besideUploads(site, largest);
  yield* await announcing(site);
}

/** @returns a function that uploads 128 MiB to each of AT_ONCE sessions at once; it may run repeatedly */
async function announceLargest(site: SessionSite): Promise<() => Promise<number>> {
  const some = announcements(site, { sessions: AT_ONCE, sizeBytes: LARGE_BYTES, batch: 1 });
  const requests = (await announce(site, some)).map(({ upload }) => upload);
  return () => transfer({ requests, sizeBytes: LARGE_BYTES, atOnce: AT_ONCE }, 204);
}

/** The first uploads of the service, because it reuses the memory of earlier ones. */
async function memoryOver({ service }: SessionSite, uploadAll: () => Promise<number>): Promise<Figure> {
  const idleMb = await startPeak(service.pid);
  await uploadAll();
  const overIdle = (await peakMb(service.pid)) - idleMb;
  return {
    what: "memory over idle, 8 uploads of 128 MiB",
    unit: "MiB",
    ours: overIdle,
    verdict: atMost(96, overIdle),
  };
}

async function uploads(site: SessionSite): Promise<Figure[]> {
  const [large] = await announce(site, announcements(site, { sessions: 1, sizeBytes: LARGE_BYTES }));
  if (!large) throw new Error("one was announced");
  const some = announcements(site, { sessions: SMALL_COUNT, sizeBytes: SMALL_BYTES });
  const small = (await announce(site, some)).map(({ upload }) => upload);
  const rate = (request: typeof large.upload, status: number) => async () =>
    SECOND_MS / (await transfer({ requests: [request], sizeBytes: LARGE_BYTES, atOnce: 1 }, status));
  const rates = (requests: readonly (typeof large.upload)[]) => async () =>
    (SECOND_MS * requests.length) / (await transfer({ requests, sizeBytes: SMALL_BYTES, atOnce: 1 }, 204));
  const unit = { unit: "transfers/s", rounds: ROUNDS };
  const first = await contest({
    what: "upload of 128 MiB",
    wanted: 0.77,
    ...unit,
    ours: rate(large.upload, 204),
    reference: rate(bareUpload(site), 204),
  });
  const second = await contest({
    what: "upload of 200 KB",
    wanted: 0.5,
    ...unit,
    ours: rates(small),
    reference: rates(small.map(() => bareUpload(site))),
  });
  const download = await downloadOf(site, large.complete);
  const third = await contest({
    what: "download of 128 MiB",
    wanted: 0.9,
    ...unit,
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

async function besideUploads(site: SessionSite, uploadAll: () => Promise<number>): Promise<Figure[]> {
  const { service, tokens } = site;
  const headers = { Authorization: `Bearer ${tokens[0]}`, "X-Blue-Contract-Version": "4" };
  const requests = [{ method: "GET", path: "/governance-config", headers }];
  const polls = () => startLoad({ port: service.port, requests, ...POLLING });
  const alone = await polls().result;
  const running = polls();
  const together = running.result;
  while (await Promise.race([together.then(() => false), uploadAll().then(() => true)]));
  const beside = await together;
  const rate = beside.perSecond / alone.perSecond;
  const tail = beside.p99Ms / alone.p99Ms;
  return [
    {
      what: "policy fetches beside 8 uploads",
      unit: "requests/s",
      ours: beside.perSecond,
      reference: alone.perSecond,
      ratio: rate,
      verdict: atLeast(0.5, rate),
    },
    {
      what: "their 99th percentile",
      unit: "ms",
      ours: beside.p99Ms,
      reference: alone.p99Ms,
      ratio: tail,
      verdict: atMost(4, tail),
    },
  ];
}

/** A round announces as many sessions as may be pending for each user. The first round only warms up both servers. */
async function announcing(site: SessionSite): Promise<Figure[]> {
  const announced: Compared[] = [];
  const completed: Compared[] = [];
  for (let batch = 0; batch <= WRITE_ROUNDS; batch += 1) {
    const sessions = PER_USER * site.tokens.length;
    const requests = announcements(site, { sessions, sizeBytes: SMALL_BYTES, batch: batch + 1 });
    announced.push(await besideWrites(site, requests, "announcement"));
    const completions = (await announce(site, requests)).map(({ complete }) => complete);
    await proveAll(site);
    completed.push(await besideWrites(site, completions, "completion"));
  }
  return [...figures("announcements", announced.slice(1)), ...figures("completions", completed.slice(1))];
}

/** Requests per second. */
interface Compared {
  ours: number;
  /** of the bare server that writes one row */
  reference: number;
  /** of the bare server that writes the same rows as ours */
  sameRows: number;
}

/** Sends requests to the service, and the same number to the bare server, once for each kind of write. */
async function besideWrites(
  site: SessionSite,
  requests: Requests,
  what: "announcement" | "completion",
): Promise<Compared> {
  const rateOf = async (sent: Requests) =>
    (SECOND_MS * sent.length) / (await transfer({ requests: sent, sizeBytes: 0, atOnce: WRITERS }, 200));
  return {
    reference: await rateOf(bareWrites(site, requests, "row")),
    sameRows: await rateOf(bareWrites(site, requests, what)),
    ours: await rateOf(requests),
  };
}

function figures(what: string, rounds: readonly Compared[]): Figure[] {
  const compared = (one: keyof Compared, other: keyof Compared) => ({
    unit: "requests/s",
    ours: median(rounds.map((round) => round[one])),
    reference: median(rounds.map((round) => round[other])),
    ratio: median(rounds.map((round) => round[one] / round[other])),
  });
  const figure = compared("ours", "reference");
  return [
    { what, ...figure, verdict: atLeast(0.5, figure.ratio) },
    { what: `${what}, by a bare server that writes the same rows`, ...compared("sameRows", "reference") },
    { what: `${what}, against that server`, ...compared("ours", "sameRows") },
  ];
}
