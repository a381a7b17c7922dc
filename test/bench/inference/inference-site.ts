// Setup of the inference benchmark: the upstream, the service in front of it with signed-in workstations, and the references that
// do all or part of the same work.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SLOTS_VARIABLE } from "../../../src/platform/outbound/request-slots.ts";
import { peerOnBun, type Running, script, startServer } from "../processes.ts";
import { logIn, openBeside, startQuartermaster } from "../tools/installation.ts";

/** One token may send 50 requests a second, so a load uses many. */
const WORKSTATIONS = 1_000;
const MINTED_AT_ONCE = 16;
const READY_LIMIT_MS = 10_000;
/** nginx does not report when it listens */
const NGINX_PORT = 18_931;
/** The service raises the limit of simultaneous requests by itself; the bare proxy cannot. */
const UNLIMITED = `${SLOTS_VARIABLE}=65535`;
export const CHAT_PATH = "/v1/chat/completions";
export const PREFIX = "/inference";

export interface InferenceSite extends AsyncDisposable {
  directory: string;
  service: Running;
  upstream: Running;
  bare: Running;
  /** does only the indispensable work for a request */
  least: Running;
  /** undefined where nginx is not installed */
  nginx: Running | undefined;
  /** inference tokens, one for each workstation */
  tokens: readonly string[];
  /** an administrator's access token */
  administrator: string;
}

/** Starts everything. The upstream shares a core with the load; the service and the references run on the other core. */
export async function startInferenceSite(directory: string): Promise<InferenceSite> {
  await using starting = new AsyncDisposableStack();
  const started = startedIn(starting);
  const upstream = await started(startServer(script("inference/inference-upstream.ts"), "measuring"));
  const origin = `http://127.0.0.1:${upstream.port}`;
  const bare = await started(
    startServer(["env", UNLIMITED, ...peerOnBun("inference/bare-proxy.ts", origin)]),
  );
  const least = await started(startServer(peerOnBun("inference/least-proxy.ts", origin, directory)));
  const nginx = Bun.which("nginx") ? await started(startNginx(directory, origin)) : undefined;
  const served = await startService(directory, origin, started);
  const running = starting.move();
  return {
    directory,
    upstream,
    bare,
    least,
    nginx,
    ...served,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Started = (server: Promise<Running>) => Promise<Running>;

/** @returns a function that starts a process and stops it when the stack is disposed */
export const startedIn =
  (stack: AsyncDisposableStack): Started =>
  async (server) => {
    const running = await server;
    stack.defer(running.stop);
    return running;
  };

/** @param tls flags of its certificate @returns the service, with a token for each workstation */
export async function startService(
  directory: string,
  upstream: string,
  started: Started,
  tls: readonly string[] = [],
): Promise<Pick<InferenceSite, "service" | "tokens" | "administrator">> {
  const config = join(directory, "quartermaster.yaml");
  writeFileSync(config, JSON.stringify(configOf(upstream)), { mode: 0o600 });
  const data = join(directory, "data");
  const service = await started(startQuartermaster(data, "--config", config, ...tls));
  const origin = `${tls.length > 0 ? "https" : "http"}://127.0.0.1:${service.port}`;
  const accessTokens = await signIn(data, origin);
  return { service, tokens: await mint(origin, accessTokens), administrator: accessTokens[0] ?? "" };
}

/** All workstations belong to one user, whose requests are not limited. */
const configOf = (url: string) => ({
  gateway: {
    type: "litellm",
    url,
    provisioner: { type: "builtin-litellm", admin_key: "sk-bench-admin-key-0123456789" },
    proxy: { max_in_flight: 4_000, budgets: { parallel_requests: 0 } },
  },
});

async function signIn(data: string, origin: string): Promise<string[]> {
  const installation = await openBeside(data, origin);
  const logins = await logIn(installation, WORKSTATIONS);
  await installation.close();
  return logins.map(({ access_token }) => access_token);
}

async function mint(origin: string, accessTokens: readonly string[]): Promise<string[]> {
  await ask(`${origin}/gateway/key/ensure`, accessTokens[0]);
  const tokens: string[] = [];
  for (let at = 0; at < accessTokens.length; at += MINTED_AT_ONCE) {
    const some = accessTokens.slice(at, at + MINTED_AT_ONCE);
    const answers = await Promise.all(some.map((token) => ask(`${origin}/gateway/token`, token)));
    tokens.push(...answers.map(({ token }) => token));
  }
  return tokens;
}

/** @throws if the response is not a success */
async function ask(url: string, token = ""): Promise<{ token: string }> {
  const headers = { Authorization: `Bearer ${token}` };
  const tls = { rejectUnauthorized: false };
  const answer = await fetch(url, { method: "POST", headers, tls });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

/** Configured as its documentation recommends for streams: connections to the upstream are kept open, and nothing is buffered. */
const nginxConfig = (directory: string, upstream: string): string => `daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log stderr emerg;
events { worker_connections 8192; }
http {
  access_log off;
  keepalive_requests 1000000;
  client_body_temp_path ${directory}/nginx-body;
  proxy_temp_path ${directory}/nginx-proxy;
  fastcgi_temp_path ${directory}/nginx-fastcgi;
  uwsgi_temp_path ${directory}/nginx-uwsgi;
  scgi_temp_path ${directory}/nginx-scgi;
  upstream gateway { server ${new URL(upstream).host}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${NGINX_PORT};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;

async function startNginx(directory: string, upstream: string): Promise<Running> {
  const file = join(directory, "nginx.conf");
  writeFileSync(file, nginxConfig(directory, upstream));
  const command = `echo http://127.0.0.1:${NGINX_PORT}; exec nginx -p ${directory} -e stderr -c ${file}`;
  const running = await startServer(["sh", "-c", command]);
  const limitMs = performance.now() + READY_LIMIT_MS;
  while (performance.now() < limitMs) {
    const isUp = await fetch(`http://127.0.0.1:${NGINX_PORT}${CHAT_PATH}`, { method: "POST" }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return running;
    await Bun.sleep(50);
  }
  await running.stop();
  throw new Error("nginx does not answer");
}
