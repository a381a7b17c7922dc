// Mirroring a commit from a repository host, against a plain loop that fetches, unpacks, compresses with the same library and hashes the
// same archive in the same run; a commit that is known; the memory it takes; and what others notice of it.
import { readFileSync, writeFileSync } from "node:fs";
import { createGunzip } from "node:zlib";
import { Gzip } from "fflate";
import { createRepackThreads } from "../../../src/app/sources/repack-threads.ts";
import { publishFirst } from "../../support/content/policy.ts";
import { createTestServer } from "../../support/server.ts";
import { connectionTo, createMirrorSite, type MirrorSite } from "../../support/sources/mirror-site.ts";
import { createRepositoryHost, type RepositoryHost } from "../../support/sources/repository-host.ts";
import { atLeast, atMost, type Figure } from "../figures.ts";

const FILES = 400;
const FILE_BYTES = 100_000;
const ROUNDS = 3;
const KNOWN_ROUNDS = 20;
const INSPECTIONS = 4;
const POLLED_MS = 1_500;
const PIECE_BYTES = 64 * 1024;
const MEBIBYTE = 1024 ** 2;

/** Measures mirroring. Required: at most 1.5 times the plain loop, 5 ms beside one look-up, half of the polls. */
export async function measureSources(): Promise<Figure[]> {
  using host = createRepositoryHost("gitea");
  const commits = Array.from({ length: ROUNDS + INSPECTIONS + 1 }, (_, seed) => host.commit(filesOf(seed)));
  await using site = await createMirrorSite([connectionTo(host)], { repack: createRepackThreads() });
  Bun.gc(true);
  const idleBytes = residentBytes();
  writeFileSync("/proc/self/clear_refs", "5"); // the peak begins anew (proc_pid_clear_refs(5))
  const [first = ""] = commits;
  await site.inspect({ ref: first });
  const grownBytes = Math.max(0, peakBytes() - idleBytes);
  return [
    await inspectionFigure(site, host, commits.slice(1, 1 + ROUNDS)),
    {
      ...{
        what: `memory over idle, ${Math.round((FILES * FILE_BYTES) / MEBIBYTE)} MiB unpacked`,
        unit: "MiB",
      },
      ours: grownBytes / MEBIBYTE,
      verdict: atMost(32, grownBytes / MEBIBYTE),
    },
    await knownFigure(site, first),
    await pollsFigure(site, commits.slice(-INSPECTIONS)),
  ];
}

/** Text that compresses about as well as sources do, different for each commit. */
function filesOf(seed: number): Record<string, string> {
  const words = Array.from({ length: 4_000 }, (_, at) => ((at * 2_654_435_761 + seed) >>> 0).toString(36));
  return Object.fromEntries(
    Array.from({ length: FILES }, (_, file) => {
      let text = "";
      for (let at = file; text.length < FILE_BYTES; at = (at * 31 + 7) % 1_000_003)
        text += `${words[at % words.length]} `;
      return [`src/file-${String(file).padStart(4, "0")}.ts`, text];
    }),
  );
}

async function inspectionFigure(
  site: MirrorSite,
  host: RepositoryHost,
  commits: readonly string[],
): Promise<Figure> {
  const ratios: number[] = [];
  const times: [own: number, plain: number][] = [];
  for (const commit of commits) {
    const plainMs = await timed(() => plainLoop(host, commit));
    const ownMs = await timed(() => site.inspect({ ref: commit }));
    ratios.push(ownMs / plainMs);
    times.push([ownMs, plainMs]);
  }
  const ratio = median(ratios);
  return {
    ...{ what: "an inspection, against a plain loop over the same archive", unit: "ms" },
    ...{ ours: median(times.map(([own]) => own)), reference: median(times.map(([, plain]) => plain)), ratio },
    verdict: atMost(1.5, ratio),
  };
}

async function plainLoop(host: RepositoryHost, commit: string): Promise<void> {
  const url = `${host.origin}/api/v1/repos/acme/tools/archive/${commit}.tar.gz`;
  const response = await fetch(url, { headers: { authorization: `token ${host.token}` } });
  const hasher = new Bun.CryptoHasher("sha256");
  const gzip = new Gzip({ level: 4, mem: 4, mtime: 0 }, (bytes) => void hasher.update(bytes));
  const unpacker = createGunzip({ chunkSize: PIECE_BYTES });
  unpacker.end(await response.bytes());
  for await (const piece of unpacker) gzip.push(piece);
  gzip.push(new Uint8Array(), true);
  hasher.digest("hex");
}

async function knownFigure(site: MirrorSite, ref: string): Promise<Figure> {
  const [connection] = site.connections;
  const differences: number[] = [];
  for (let round = 0; connection && round < KNOWN_ROUNDS; round += 1) {
    const lookUp = { repository: "acme/tools", ref, path: "" };
    const lookUpMs = await timed(() => site.sources.mirrors.resolve(connection, lookUp));
    differences.push((await timed(() => site.inspect({ ref }))) - lookUpMs);
  }
  const ours = median(differences);
  return { what: "a known commit, beside its look-up", unit: "ms", ours, verdict: atMost(5, ours) };
}

/** The policy as workstations fetch it, through all of the server, while archives are made. */
async function pollsFigure(site: MirrorSite, commits: readonly string[]): Promise<Figure> {
  await using server = await createTestServer();
  await publishFirst(server);
  const { accessToken: token } = await server.signedIn("member");
  const polls = async () => {
    const untilMs = performance.now() + POLLED_MS;
    let count = 0;
    for (; performance.now() < untilMs; count += 1) {
      await (await server.request("GET", "/governance-config", { token })).arrayBuffer();
      await Bun.sleep(0);
    }
    return count / (POLLED_MS / 1_000);
  };
  await polls();
  const alone = await polls();
  const mirroring = Promise.all(commits.map((ref) => site.inspect({ ref })));
  const during = await polls();
  await mirroring;
  const ratio = during / alone;
  return {
    ...{ what: `policies fetched during ${commits.length} inspections`, unit: "requests/s" },
    ...{ ours: during, reference: alone, ratio, verdict: atLeast(0.5, ratio) },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const statusKib = (name: string): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0);
const residentBytes = (): number => statusKib("VmRSS") * 1024;
const peakBytes = (): number => statusKib("VmHWM") * 1024;
