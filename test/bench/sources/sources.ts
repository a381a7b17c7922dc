// Mirroring a commit from a repository host with the executable, compared with a plain loop that fetches, unpacks, compresses with
// the same library and hashes the same archive in the same run; a commit that is already known; its memory; and the slowdown of
// other requests.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { certify } from "../../support/network/private-ca.ts";
import { createRepositoryHost, type RepositoryHost } from "../../support/sources/repository-host.ts";
import { atLeast, atMost, type Figure } from "../figures.ts";
import {
  cleanEnvironment,
  followMbIn,
  onItsCore,
  peakMb,
  type Running,
  script,
  startPeak,
} from "../processes.ts";
import {
  logIn,
  openBeside,
  sessionCookie,
  startQuartermaster,
  temporaryDirectory,
} from "../tools/installation.ts";
import type { PlainFetch } from "./plain-loop.ts";

/** Files of a commit: about 100 MiB unpacked for the memory, less for the times. */
const [MANY_FILES, SOME_FILES] = [1_050, 400];
const FILE_BYTES = 100_000;
const ROUNDS = 5;
const KNOWN_ROUNDS = 15;
const INSPECTIONS = 4;
const POLLED_MS = 1_500;
const MEBIBYTE = 1024 ** 2;
const EXAMPLE_CATALOG = join(import.meta.dir, "../../../src/domain/catalog/example/catalog.yaml");

interface Site {
  host: RepositoryHost;
  service: Running;
  /** where archives are made */
  work: string;
  /** Inspects a commit as an administrator. */
  inspect(ref: string): Promise<void>;
  /** Fetches a path from the host. */
  fetchFrom(path: string): Promise<Response>;
  /** request of the plain loop for the repository */
  plain: PlainFetch;
  /** value of the header `Authorization` of a workstation */
  authorization: string;
}

/**
 * Measures mirroring. Required: at most 1.5 times the plain loop, 5 ms more than one lookup, half of the rate of policy fetches.
 */
export async function* measureSources(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using stack = new AsyncDisposableStack();
  const site = await startSite(directory.path, stack);
  const commits = Array.from({ length: ROUNDS + INSPECTIONS }, (_, seed) =>
    site.host.commit(filesOf(seed, SOME_FILES)),
  );
  yield* await memoryFigures(site);
  yield await inspectionFigure(site, commits.slice(0, ROUNDS));
  yield await knownFigure(site, commits[0] ?? "");
  yield await pollsFigure(site, commits.slice(-INSPECTIONS));
}

async function startSite(directory: string, stack: AsyncDisposableStack): Promise<Site> {
  const { cert, key, ca } = await certify();
  const host = stack.use(createRepositoryHost("gitea", { tls: { cert, key } }));
  const origin = host.origin.replace("127.0.0.1", "localhost");
  const config = join(directory, "config.yaml");
  const connection = {
    id: "host",
    provider: "gitea",
    api_base_url: `${origin}/api/v1`,
    token: "file://token",
    ca_bundle: "ca.pem",
    organizations: { "*": ["acme"] },
  };
  writeFileSync(join(directory, "ca.pem"), ca);
  writeFileSync(join(directory, "token"), host.token, { mode: 0o600 });
  writeFileSync(config, JSON.stringify({ package_sources: { connections: [connection] } }), { mode: 0o600 });
  const data = join(directory, "data");
  mkdirSync(data);
  const service = await startQuartermaster(data, "--config", config, "--catalog", EXAMPLE_CATALOG);
  stack.defer(service.stop);
  const installation = await openBeside(data, service.port);
  stack.defer(installation.close);
  const [login] = await logIn(installation, 1);
  const headers = {
    Cookie: await sessionCookie(installation),
    Origin: `http://127.0.0.1:${service.port}`,
    "Content-Type": "application/json",
  };
  return {
    host,
    service,
    work: join(data, "sources"),
    authorization: `Bearer ${login?.access_token}`,
    plain: { url: `${origin}/api/v1/repos/acme/tools`, ca, authorization: `token ${host.token}` },
    fetchFrom: (path) =>
      fetch(origin + path, { tls: { ca }, headers: { authorization: `token ${host.token}` } }),
    async inspect(ref) {
      const body = JSON.stringify({ connection_id: "host", repository: "acme/tools", ref });
      const url = `http://127.0.0.1:${service.port}/admin/package-source/inspect`;
      const answer = await fetch(url, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(`the inspection was answered with ${await answer.text()}`);
    },
  };
}

/** Text that compresses about as well as source code, different for each commit. */
function filesOf(seed: number, files: number): Record<string, string> {
  const words = Array.from({ length: 4_000 }, (_, at) => ((at * 2_654_435_761 + seed) >>> 0).toString(36));
  return Object.fromEntries(
    Array.from({ length: files }, (_, file) => {
      let text = "";
      for (let at = file; text.length < FILE_BYTES; at = (at * 31 + 7) % 1_000_003)
        text += `${words[at % words.length]} `;
      return [`src/file-${String(file).padStart(4, "0")}.ts`, text];
    }),
  );
}

/** The first inspection of a service that has answered a few requests, and the process that makes its archive. */
async function memoryFigures({ host, service, work, inspect }: Site): Promise<Figure[]> {
  const commit = host.commit(filesOf(ROUNDS + INSPECTIONS, MANY_FILES));
  const idleMb = await startPeak(service.pid);
  const endFollowing = followMbIn(work);
  await inspect(commit);
  const ours = (await peakMb(service.pid)) - idleMb;
  const unpacked = `${Math.round((MANY_FILES * FILE_BYTES) / MEBIBYTE)} MiB unpacked`;
  return [
    { what: `memory over idle, ${unpacked}`, unit: "MiB", ours, verdict: atMost(32, ours) },
    { what: "private memory of the process for the archive", unit: "MiB", ours: endFollowing() },
  ];
}

async function inspectionFigure(site: Site, commits: readonly string[]): Promise<Figure> {
  const ratios: number[] = [];
  const times: [own: number, plain: number][] = [];
  for (const commit of commits) {
    const plainMs = await plainLoop(site, commit);
    const ownMs = await timed(() => site.inspect(commit));
    ratios.push(ownMs / plainMs);
    times.push([ownMs, plainMs]);
  }
  const ratio = median(ratios);
  return {
    what: "an inspection, against a plain loop over the same archive",
    unit: "ms",
    ours: median(times.map(([own]) => own)),
    reference: median(times.map(([, plain]) => plain)),
    ratio,
    verdict: atMost(1.5, ratio),
  };
}

/** On the core of the service and in a new process, as the service makes its archive. @returns milliseconds, without its start */
async function plainLoop({ plain }: Site, commit: string): Promise<number> {
  const task: PlainFetch = { ...plain, url: `${plain.url}/archive/${commit}.tar.gz` };
  const child = Bun.spawn(onItsCore("measured", script("sources/plain-loop.ts", JSON.stringify(task))), {
    ...{ env: cleanEnvironment(), stdout: "pipe", stderr: "inherit" },
  });
  return Number(await new Response(child.stdout).text());
}

/** The lookup is the service's request to the host, sent without the service. */
async function knownFigure({ host, inspect, fetchFrom }: Site, ref: string): Promise<Figure> {
  host.seen.length = 0;
  await inspect(ref);
  const paths = host.seen.map(({ path }) => path);
  const lookUp = async () => {
    for (const path of paths) await (await fetchFrom(path)).bytes();
  };
  const differences: number[] = [];
  for (let round = 0; round < KNOWN_ROUNDS; round += 1) {
    const lookUpMs = await timed(lookUp);
    differences.push((await timed(() => inspect(ref))) - lookUpMs);
  }
  const ours = median(differences);
  return { what: "a known commit, beside its look-up", unit: "ms", ours, verdict: atMost(5, ours) };
}

/** Policy fetches of workstations while archives are created. */
async function pollsFigure(
  { service, inspect, authorization }: Site,
  commits: readonly string[],
): Promise<Figure> {
  const url = `http://127.0.0.1:${service.port}/governance-config`;
  const polls = async () => {
    const untilMs = performance.now() + POLLED_MS;
    let count = 0;
    for (; performance.now() < untilMs; count += 1) {
      const answer = await fetch(url, { headers: { authorization } });
      if (!answer.ok) throw new Error(`the policy was answered with ${await answer.text()}`);
      await answer.bytes();
    }
    return count / (POLLED_MS / 1_000);
  };
  await polls();
  const alone = await polls();
  const mirroring = Promise.all(commits.map(inspect));
  const during = await polls();
  await mirroring;
  const ratio = during / alone;
  return {
    what: `policies fetched during ${commits.length} inspections`,
    unit: "requests/s",
    ours: during,
    reference: alone,
    ratio,
    verdict: atLeast(0.5, ratio),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
