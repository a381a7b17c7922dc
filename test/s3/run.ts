// `bun run test:s3`: the cases of every store, of exported request logs, of upload URLs and of the probe of `doctor` with
// versitygw, a real S3 server: in path style, in host style, over TLS with a private CA in both styles, and behind nginx with another
// public host. At last the service itself keeps sessions there. Needs nginx, curl, and `versitygw` on PATH or at $VERSITYGW (`go install github.com/versity/versitygw/cmd/versitygw@latest`), which is why `bun run
// test` leaves it out.
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkOf } from "../../src/app/doctor/finding.ts";
import { checkBucket } from "../../src/app/doctor/object-store.ts";
import { LogArchive } from "../../src/domain/inference/log/log-archive.ts";
import { createS3Objects } from "../../src/domain/sessions/service.ts";
import type { Bucket } from "../../src/platform/object-store/bucket.ts";
import { signUrl } from "../../src/platform/object-store/signature.ts";
import { accepting, freePort } from "../support/network/free-port.ts";
import { certify } from "../support/network/private-ca.ts";
import { ARCHIVE_CASES } from "../support/object-store/archive-cases.ts";
import { TEST_KEYS } from "../support/object-store/s3-server.ts";
import { ADDRESS_CASES, artifactOf, STORE_CASES } from "../support/object-store/store-cases.ts";
import { bucketAt, credentialsOf } from "../support/object-store/test-bucket.ts";
import { requireVersitygw, startVersitygw } from "../support/object-store/versitygw.ts";
import { prove, requirePrograms } from "../support/proof.ts";
import { withService } from "./service.ts";

const HEADS = 400;
/** Names below `localhost` are addresses of this machine (RFC 6761 section 6.3). The server takes path style as well. */
const HOST_STYLE = ["--virtual-domain", "localhost"];
const clock = { nowMs: Date.now };

let failures = 0;

async function main(): Promise<void> {
  const versitygw = requireVersitygw();
  const nginx = requirePrograms({ nginx: "nginx", curl: "curl" })("nginx");
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-s3-"));
  const settings = { folder: folder.path, bucket: "sessions" };
  {
    await using store = await startVersitygw(versitygw, settings);
    const origin = `http://127.0.0.1:${store.port}`;
    await examine("path style", bucketAt(origin), { addresses: true });
    await compareWithHead(bucketAt(origin));
    await behindNginx(nginx, folder.path, store.port);
    await withService({ endpoint: `http://localhost:${store.port}`, folder: folder.path }, async (cases) => {
      for (const one of cases) await runCase("the service", one, () => one.run());
    });
  }
  {
    await using store = await startVersitygw(versitygw, { ...settings, options: HOST_STYLE });
    const bucket = bucketAt(`http://localhost:${store.port}`, { place: { pathStyle: false } });
    await examine("host style", bucket, { addresses: true });
  }
  await overTls(versitygw, { ...settings, name: "localhost", pathStyle: true });
  await overTls(versitygw, { ...settings, name: "sessions.localhost", pathStyle: false });
  if (failures > 0) throw new Error(`${failures} cases failed`);
}

/** @param name in the certificate, which a private CA signs */
async function overTls(
  versitygw: string,
  { name, pathStyle, folder, bucket }: { name: string; pathStyle: boolean; folder: string; bucket: string },
): Promise<void> {
  const { cert, key, ca } = await certify({ name });
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  const options = [...HOST_STYLE, "--cert", files.cert, "--key", files.key];
  await using store = await startVersitygw(versitygw, { folder, bucket, options });
  const what = `TLS with a private CA, ${pathStyle ? "path" : "host"} style`;
  await examine(what, bucketAt(`https://localhost:${store.port}`, { ca, place: { pathStyle } }), { ca });
}

/** nginx has the public host, and forwards the header Host. */
async function behindNginx(nginx: string, folder: string, storePort: number): Promise<void> {
  const port = freePort();
  const settings = join(folder, "nginx.conf");
  writeFileSync(
    settings,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
http { access_log off; client_max_body_size 200m; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${storePort}; proxy_set_header Host $http_host; proxy_request_buffering off; } } }`,
  );
  await using _ = Bun.spawn([nginx, "-c", settings], { stdio: ["ignore", "ignore", "inherit"] });
  await accepting(port);
  const publicEndpoint = `http://localhost:${port}`;
  const place = { publicEndpoint };
  await examine(
    "behind nginx with another public host",
    bucketAt(`http://127.0.0.1:${storePort}`, { place }),
    {
      addresses: true,
      publicEndpoint,
    },
  );
}

interface Examination {
  addresses?: boolean;
  ca?: string;
  publicEndpoint?: string;
}

async function examine(
  name: string,
  bucket: Bucket,
  { addresses, ca, publicEndpoint }: Examination,
): Promise<void> {
  const store = createS3Objects({ bucket, prefix: "captured/", clock });
  for (const one of [...STORE_CASES, ...(addresses ? ADDRESS_CASES : [])])
    await runCase(name, one, () => one.run(store));
  const archive = new LogArchive({ bucket, name: "sessions", prefix: `${crypto.randomUUID()}/` });
  for (const one of ARCHIVE_CASES) await runCase(name, one, () => one.run(archive));
  const fetchBytes = async (url: string) => {
    const response = await fetch(url, ca === undefined ? {} : { tls: { ca } });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  const found = await checkBucket(checkOf("session_bucket"), {
    bucket,
    prefix: "captured/",
    ask: fetchBytes,
    ...(publicEndpoint && {
      askPublic: fetchBytes,
      origins: { publicEndpoint, own: "https://control.example.org" },
    }),
  });
  report(
    `${name}: doctor's probe finds nothing wrong`,
    found.every(({ result }) => result === "ok") ? undefined : JSON.stringify(found),
  );
}

async function runCase(
  name: string,
  { name: sentence }: { name: string },
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
    report(`${name}: ${sentence}`);
  } catch (error) {
    report(`${name}: ${sentence}`, String(error));
  }
}

/** The service's call when an upload is completed, and a bare HEAD of a URL that was signed once. */
async function compareWithHead(bucket: Bucket): Promise<void> {
  const store = createS3Objects({ bucket, prefix: "captured/", clock });
  const artifact = artifactOf(store, "measured");
  await store.put(artifact.place, new Blob([new Uint8Array(artifact.bytes)]).stream(), artifact);
  const headers = { "x-amz-checksum-mode": "ENABLED" };
  const url = signUrl(
    { method: "HEAD", url: new URL(bucket.plainUrl(artifact.place)), headers },
    { credentials: credentialsOf(TEST_KEYS), region: "us-east-1", atMs: Date.now(), lifetimeSeconds: 900 },
  );
  const timed = async (ask: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let round = 0; round < HEADS; round += 1) {
      const startMs = performance.now();
      await ask();
      times.push(performance.now() - startMs);
    }
    return times.toSorted((one, other) => one - other)[HEADS / 2] ?? 0;
  };
  const bare = async () => {
    if (!(await fetch(url, { method: "HEAD", headers })).ok) throw new Error("the bare HEAD was refused");
  };
  const ours = () => store.inspect(artifact.place);
  await timed(bare);
  await timed(ours);
  const [bareMs, oursMs] = [await timed(bare), await timed(ours)];
  process.stdout.write(
    `inspect ${oursMs.toFixed(3)} ms, bare HEAD ${bareMs.toFixed(3)} ms, ratio ${(oursMs / bareMs).toFixed(2)}\n`,
  );
}

function report(what: string, failure?: string): void {
  if (failure === undefined) process.stdout.write(`ok      ${what}\n`);
  else process.stdout.write(`FAILED  ${what}\n        ${failure}\n`);
  failures += failure === undefined ? 0 : 1;
}

await prove(main);
