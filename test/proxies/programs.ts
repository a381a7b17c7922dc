// HAProxy and nginx as children, each with a configuration that reuses connections to the service and writes the address of the
// client with its port, as load balancers of clouds do.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface RunningProxy extends AsyncDisposable {
  name: string;
  origin: string;
}

interface Behind {
  /** for the files of the proxy */
  directory: string;
  /** where the service listens: an origin, or `unix:/path` */
  upstream: string;
}

/** Where proxies call the service from over TCP; clients call from another address, so that only the proxy is trusted. */
export const PROXY_ADDRESS = "127.0.0.3";

/** @returns HAProxy, which gives a connection that one client used to the next one */
export function startHaproxy({ directory, upstream }: Behind): Promise<RunningProxy> {
  const isUnix = upstream.startsWith("unix:");
  const server = isUnix ? `unix@${upstream.slice("unix:".length)}` : new URL(upstream).host;
  return start("haproxy", directory, {
    commandOf: (file) => ["haproxy", "-db", "-f", file],
    configure: (port) => `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  option http-no-delay
frontend entry
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-For "%[req.hdr(X-Forwarded-For)], %[src]:%[src_port]"
  default_backend service
backend service
  http-reuse always
  server quartermaster ${server} ${isUnix ? "" : `source ${PROXY_ADDRESS}`}
`,
  });
}

/** @returns nginx, which passes bodies on as they come */
export function startNginx({ directory, upstream }: Behind): Promise<RunningProxy> {
  const isUnix = upstream.startsWith("unix:");
  const server = isUnix ? upstream : new URL(upstream).host;
  return start("nginx", directory, {
    commandOf: (file) => ["nginx", "-p", directory, "-e", "stderr", "-c", file],
    configure: (port) => `
daemon off;
master_process off;
pid ${join(directory, "nginx.pid")};
error_log stderr emerg;
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(directory, name)};`).join("\n  ")}
  upstream service { server ${server}; keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://service;
      ${isUnix ? "" : `proxy_bind ${PROXY_ADDRESS};`}
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For "$http_x_forwarded_for, $remote_addr:$remote_port";
    }
  }
}
`,
  });
}

interface Program {
  commandOf(file: string): string[];
  configure(port: number): string;
}

async function start(
  name: string,
  directory: string,
  { commandOf, configure }: Program,
): Promise<RunningProxy> {
  // Daemons are in a folder that is not on everybody's path.
  const path = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
  if (!Bun.which(name, { PATH: path }))
    throw new Error(`${name} is missing; install it first, for example: apt-get install ${name}`);
  mkdirSync(directory, { recursive: true });
  const port = freePort();
  const file = join(directory, `${name}.conf`);
  writeFileSync(file, configure(port));
  const child = Bun.spawn(commandOf(file), {
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const origin = `http://127.0.0.1:${port}`;
  await answering(origin, name, child);
  return {
    name,
    origin,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** @returns a port that nobody listens on at this moment */
function freePort(): number {
  using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return listener.port;
}

const START_MS = 10_000;
const LOOK_AGAIN_MS = 50;

async function answering(origin: string, name: string, child: Bun.Subprocess): Promise<void> {
  const endMs = performance.now() + START_MS;
  while (child.exitCode === null && performance.now() < endMs) {
    const response = await fetch(`${origin}/health`).catch(() => undefined); // it does not listen yet
    if (response?.ok) return;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
  child.kill();
  throw new Error(`${name} did not start`);
}
