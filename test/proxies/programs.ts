// HAProxy, nginx and Caddy as child processes, each with the example of the handbook's chapter on installing. Only addresses, the
// paths of files and settings for daemons are changed.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generate } from "selfsigned";
import { partsOf } from "../../src/handbook/markdown.ts";
import { chapterFile } from "../support/content/chapter-files.ts";
import { freePort } from "../support/network/free-port.ts";

export interface RunningProxy extends AsyncDisposable {
  name: string;
  origin: string;
}

export interface Behind {
  /** for the files of the proxy */
  directory: string;
  /** where the service listens: an origin, or `unix:/path` */
  upstream: string;
}

/** The address from which proxies call the service over TCP; clients use another one, so that only the proxy is trusted. */
export const PROXY_ADDRESS = "127.0.0.3";

const SOCKET = "/run/quartermaster/service.sock";

/** @returns HAProxy, which reuses a connection of one client for the next one */
export function startHaproxy({ directory, upstream }: Behind): Promise<RunningProxy> {
  const server = isUnix(upstream) ? undefined : `${new URL(upstream).host} source ${PROXY_ADDRESS}`;
  return start("haproxy", directory, {
    commandOf: (file) => ["haproxy", "-db", "-f", file],
    configure: (port, { pem }) =>
      changed(exampleFor("haproxy"), [
        [":443 ssl crt /etc/haproxy/control.pem", `127.0.0.1:${port} ssl crt ${pem}`],
        [`unix@${SOCKET}`, server ?? `unix@${pathIn(upstream)}`],
      ]),
  });
}

/** @returns nginx, which forwards bodies as they arrive */
export function startNginx({ directory, upstream }: Behind): Promise<RunningProxy> {
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(directory, name)};`)
    .join("\n  ");
  const bind = isUnix(upstream) ? "" : ` proxy_bind ${PROXY_ADDRESS};`;
  return start("nginx", directory, {
    commandOf: (file) => ["nginx", "-p", directory, "-e", "stderr", "-c", file],
    configure: (port, { certificate, key }) => {
      const example = changed(exampleFor("nginx"), [
        ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
        ["/etc/ssl/control.crt", certificate],
        ["/etc/ssl/control.key", key],
        [`unix:${SOCKET}`, isUnix(upstream) ? upstream : new URL(upstream).host],
        ["proxy_pass http://quartermaster;", `proxy_pass http://quartermaster;${bind}`],
      ]);
      return `daemon off;
master_process off;
pid ${join(directory, "nginx.pid")};
error_log stderr emerg;
events {}
http {
  access_log off;
  ${folders}
${example}}
`;
    },
  });
}

/** @returns Caddy, which removes the forwarding header of its callers */
export function startCaddy({ directory, upstream }: Behind): Promise<RunningProxy> {
  return start("caddy", directory, {
    commandOf: (file) => ["caddy", "run", "--adapter", "caddyfile", "--config", file],
    configure: (port, { certificate, key }) => {
      const example = changed(exampleFor("caddyfile"), [
        ["control.example.org", `https://127.0.0.1:${port}, https://qm.example.org:${port}`],
        ["/etc/caddy/control.crt", certificate],
        ["/etc/caddy/control.key", key],
        [`unix/${SOCKET}`, isUnix(upstream) ? `unix/${pathIn(upstream)}` : new URL(upstream).host],
      ]);
      const global = `{\n  admin off\n  auto_https disable_redirects\n  local_certs\n  skip_install_trust\n  log {\n    level ERROR\n  }\n  storage file_system ${directory}\n}\n`;
      return global + example;
    },
  });
}

const isUnix = (upstream: string): boolean => upstream.startsWith("unix:");
const pathIn = (upstream: string): string => upstream.slice("unix:".length);

/** @returns the one block of the chapter in that language */
function exampleFor(language: string): string {
  const parts = partsOf(readFileSync(chapterFile("install"), "utf8"));
  const [example, ...others] = parts.filter((part) => part.kind === "block" && part.language === language);
  if (example === undefined || others.length > 0)
    throw new Error(`${chapterFile("install")} needs one example for ${language}`);
  return example.text;
}

/** @throws Error for a text that the example does not have, so that an unused replacement is noticed */
const changed = (
  example: string,
  changes: readonly (readonly [text: string, replacement: string])[],
): string =>
  changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the example lacks ${from}`);
    return text.replaceAll(from, to);
  }, example);

/** Paths of PEM files. */
interface TlsFiles {
  certificate: string;
  key: string;
  /** both in one file, as HAProxy wants it */
  pem: string;
}

async function makeCertificate(directory: string): Promise<TlsFiles> {
  const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
  });
  const files = {
    certificate: join(directory, "control.crt"),
    key: join(directory, "control.key"),
    pem: join(directory, "control.pem"),
  };
  writeFileSync(files.certificate, cert);
  writeFileSync(files.key, key);
  writeFileSync(files.pem, `${cert}\n${key}`);
  return files;
}

interface Program {
  commandOf(file: string): string[];
  configure(port: number, files: TlsFiles): string;
}

async function start(
  name: string,
  directory: string,
  { commandOf, configure }: Program,
): Promise<RunningProxy> {
  // Daemons are in folders that are not on every PATH.
  const path = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
  if (!Bun.which(name, { PATH: path }))
    throw new Error(`${name} is missing; install it first, for example: apt-get install ${name}`);
  mkdirSync(directory, { recursive: true });
  const port = freePort();
  const file = join(directory, `${name}.conf`);
  writeFileSync(file, configure(port, await makeCertificate(directory)));
  const child = Bun.spawn(commandOf(file), {
    env: { ...process.env, PATH: path, HOME: directory },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const origin = `https://127.0.0.1:${port}`;
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

/** These proxies have their own certificates. */
export const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, tls: { rejectUnauthorized: false } });

const START_MS = 10_000;
const LOOK_AGAIN_MS = 50;

async function answering(origin: string, name: string, child: Bun.Subprocess): Promise<void> {
  const endMs = performance.now() + START_MS;
  while (child.exitCode === null && performance.now() < endMs) {
    const response = await ask(`${origin}/health`).catch(() => undefined); // it does not listen yet
    if (response?.ok) return;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
  child.kill();
  throw new Error(`${name} did not start`);
}
