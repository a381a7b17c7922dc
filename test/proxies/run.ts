// `bun run test:proxies`: HAProxy, nginx and Caddy, as Debian packages them and as the handbook configures them, in front of the
// executable. No client may fail because of the requests of another one, and each caller must be counted by its own address. Needs
// the three programs, which is why `bun run test` leaves it out; without them it fails.
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { OAUTH_CLIENT_ID } from "../../src/domain/access/wire.ts";
import { SCIM_BASE_PATH } from "../../src/domain/scim/wire.ts";
import { BODY_BYTES_MAX } from "../../src/server/http/bodies/body.ts";
import { converse } from "../support/network/raw-socket.ts";
import { startService } from "../support/running-service.ts";
import { ask, PROXY_ADDRESS, type RunningProxy, startCaddy, startHaproxy, startNginx } from "./programs.ts";

/** Number of requests of each of them. */
const ROUNDS = 300;
const CLIENTS = 8;
/** How long the test waits for a response on a busy machine. */
const PATIENCE_MS = 5_000;
/** The number of logins that one address may start in the test of limits. */
const CODES_PER_ADDRESS = 5;

async function main(): Promise<number> {
  using directory = mkdtempDisposableSync(join(tmpdir(), "quartermaster-proxies-"));
  build({ directory: join(directory.path, "executable") });
  const failures: string[] = [];
  for (const start of [startHaproxy, startNginx, startCaddy]) {
    // Caddy of Debian 12 cannot use another address than its clients, so over TCP they could not be distinguished.
    for (const kind of start === startCaddy ? ["unix"] : ["tcp", "unix"]) {
      const folder = join(directory.path, `${start.name}-${kind}`);
      const socket = join(directory.path, `${start.name}.sock`);
      const listen = kind === "unix" ? ["--server-listen", `unix:${socket}`] : [];
      const trust = [
        "--server-public-url",
        "https://qm.example.org",
        "--server-trusted-proxies",
        PROXY_ADDRESS,
      ];
      await using service = await startService({
        command: [join(directory.path, "executable", "quartermaster")],
        args: [
          "--data-dir",
          folder,
          ...listen,
          ...trust,
          "--limits-device-codes-per-address",
          String(CODES_PER_ADDRESS),
        ],
      });
      const upstream = /listens on (\S+)/.exec(service.stdout())?.[1] ?? "";
      await using proxy = await start({ directory: folder, upstream });
      const name = `${proxy.name} over ${kind}`;
      for (const [what, check] of Object.entries(CHECKS)) {
        const wrong = await check(proxy);
        console.log(`${wrong ? "FAILED" : "ok    "} ${name}: ${what}${wrong ? `: ${wrong}` : ""}`);
        if (wrong) failures.push(name);
      }
    }
  }
  return failures.length === 0 ? 0 : 1;
}

/** @returns the problem, or undefined */
type Check = (proxy: RunningProxy) => Promise<string | undefined>;

const CHECKS: Readonly<Record<string, Check>> = {
  "other clients' requests succeed while one sends chunked bodies with trailers": whileChunked,
  "a refused chunked request is answered with its refusal": refusedChunked,
  "a caller is counted by its address, not by its claims": countedByAddress,
  "a body of the largest size gets an answer of the service": largeBody,
};

async function whileChunked({ origin }: RunningProxy): Promise<string | undefined> {
  const form = "Content-Type: application/x-www-form-urlencoded";
  const lines = ["Host: qm.example.org", "Connection: close", form, "Transfer-Encoding: chunked"];
  const head = ["POST /api/auth/oauth2/token HTTP/1.1", ...lines, "", ""].join("\r\n");
  const chunked = `${head}5\r\nhello\r\n0\r\nX-Checksum: 1\r\n\r\n`;
  let isOver = false;
  const disturb = async () => {
    while (!isOver) await converse({ address: origin }, [chunked]);
  };
  const disturbing = Array.from({ length: CLIENTS }, disturb);
  const outcomes = await Promise.all(Array.from({ length: CLIENTS }, () => statusesOf(origin)));
  isOver = true;
  await Promise.all(disturbing);
  const bad = outcomes.flat().filter((status) => status !== 200);
  return bad.length === 0
    ? undefined
    : `${bad.length} of ${CLIENTS * ROUNDS} requests failed: ${[...new Set(bad)].join(", ")}`;
}

async function statusesOf(origin: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const response = await ask(`${origin}/health`);
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

async function refusedChunked({ origin }: RunningProxy): Promise<string | undefined> {
  const piece = `${(4096).toString(16)}\r\n${"x".repeat(4096)}\r\n`;
  const head = `POST ${SCIM_BASE_PATH}/Users HTTP/1.1\r\nHost: qm.example.org\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
  for (let round = 0; round < 20; round += 1) {
    const { text } = await converse(
      { address: origin },
      [head, 2, piece, 2, piece, 2, piece, "0\r\n\r\n"],
      PATIENCE_MS,
    );
    if (!text.startsWith("HTTP/1.1 401 "))
      return `the answer began with ${JSON.stringify(text.slice(0, 40))}`;
  }
  return undefined;
}

/** The proxy appends the address of its client with the port, so every value sent by the client leads to the same caller. */
async function countedByAddress({ origin }: RunningProxy): Promise<string | undefined> {
  const outcomes: number[] = [];
  for (let index = 0; index <= CODES_PER_ADDRESS; index += 1) {
    const { status } = await ask(`${origin}/api/auth/device/code`, {
      method: "POST",
      headers: { "x-forwarded-for": `198.51.100.${index}` },
      body: new URLSearchParams({ client_id: OAUTH_CLIENT_ID }),
    });
    outcomes.push(status);
  }
  const wanted = [...Array(CODES_PER_ADDRESS).fill(200), 429];
  return String(outcomes) === String(wanted) ? undefined : `answered ${outcomes}, not ${wanted}`;
}

/** A proxy that refuses it would respond with its own page. */
async function largeBody({ origin }: RunningProxy): Promise<string | undefined> {
  const response = await ask(`${origin}/admin/governance-config`, {
    method: "PUT",
    headers: { "content-type": "application/json", authorization: "Bearer none" },
    body: "x".repeat(BODY_BYTES_MAX),
  });
  const type = response.headers.get("content-type");
  return type === "application/problem+json" ? undefined : `answered ${response.status} as ${type}`;
}

process.exitCode = await main();
