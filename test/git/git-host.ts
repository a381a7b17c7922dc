// A real git server: `git http-backend` behind nginx and fcgiwrap, over TLS with a private CA, protected by a user name and a
// token. A second nginx server is another origin, which logs every request with its credentials.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accepting, freePort } from "../support/network/free-port.ts";
import { certify } from "../support/network/private-ca.ts";
import { requirePrograms } from "../support/proof.ts";

export const USERNAME = "reader";
export const TOKEN = "a-token-that-may-read";

export interface GitHost extends AsyncDisposable {
  /** of the repositories */
  origin: string;
  port: number;
  /** PEM */
  ca: string;
  /** certificate and key of the server, in PEM */
  tls: { cert: string; key: string };
  /** folder of the bare repositories, as namespace/name.git */
  root: string;
  /** @returns the log of the other origin: one line for each request, with its headers Authorization and Cookie */
  elsewhere(): string;
  /** @returns one line for each request: method, path, status and protocol */
  log(): string;
}

export interface Programs {
  nginx: string;
  fcgiwrap: string;
  git: string;
}

/** @returns the programs @throws Error that says how to install missing ones */
export function programs(): Programs {
  const pathOf = requirePrograms({ git: "git", nginx: "nginx", fcgiwrap: "fcgiwrap" });
  return { git: pathOf("git"), nginx: pathOf("nginx"), fcgiwrap: pathOf("fcgiwrap") };
}

/** @param folder empty */
export async function startGitHost(folder: string, { nginx, fcgiwrap, git }: Programs): Promise<GitHost> {
  const { cert, key, ca } = await certify();
  const root = join(folder, "repositories");
  mkdirSync(root);
  writeFileSync(join(folder, "tls.pem"), cert);
  writeFileSync(join(folder, "tls.key"), key, { mode: 0o600 });
  writeFileSync(join(folder, "users"), `${USERNAME}:{PLAIN}${TOKEN}\nx-token-auth:{PLAIN}${TOKEN}\n`);
  const [port, other] = [freePort(), freePort()];
  const socket = join(folder, "fcgi.sock");
  const backend = join(execPathOf(git), "git-http-backend");
  writeFileSync(join(folder, "nginx.conf"), settings({ folder, port, other, socket, backend, root }));
  const wrapper = Bun.spawn([fcgiwrap, "-c", "8", "-s", `unix:${socket}`], {
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  const server = Bun.spawn([nginx, "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await accepting(port);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  return {
    origin: `https://localhost:${port}`,
    port,
    ca,
    root,
    tls: { cert, key },
    elsewhere: () => read("elsewhere.log"),
    log: () => read("access.log"),
    async [Symbol.asyncDispose]() {
      server.kill();
      process.kill(-wrapper.pid); // its group: fcgiwrap leaves its workers behind
      await Promise.all([server.exited, wrapper.exited]);
    },
  };
}

const execPathOf = (git: string): string => Bun.spawnSync([git, "--exec-path"]).stdout.toString().trim();

interface Settings {
  folder: string;
  port: number;
  other: number;
  socket: string;
  backend: string;
  root: string;
}

/** Paths below /moved/ and, for POST, /late/ redirect to the other origin; /page/ answers HTML, and /busy/ 429. */
const settings = ({ folder, port, other, socket, backend, root }: Settings) => `
${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
http {
  log_format seen '$request_method $uri $status $http_git_protocol';
  log_format everything '$request $http_authorization $http_cookie';
  access_log ${folder}/access.log seen;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  ssl_certificate ${folder}/tls.pem; ssl_certificate_key ${folder}/tls.key;
  server {
    listen 127.0.0.1:${port} ssl;
    location /moved/ { return 302 https://localhost:${other}$request_uri; }
    location /late/ { if ($request_method = POST) { return 302 https://localhost:${other}$request_uri; } rewrite ^/late(/.*)$ $1 last; }
    location /page/ { default_type text/html; return 200 '<html>sign in</html>'; }
    location /busy/ { add_header Retry-After 17 always; return 429; }
    location / {
      auth_basic git; auth_basic_user_file ${folder}/users;
      fastcgi_pass unix:${socket}; fastcgi_buffering off; fastcgi_read_timeout 90;
      fastcgi_param SCRIPT_FILENAME ${backend}; fastcgi_param GIT_PROJECT_ROOT ${root}; fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param PATH_INFO $uri; fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_USER $remote_user; fastcgi_param REMOTE_ADDR $remote_addr; fastcgi_param HOME ${folder};
    }
  }
  server {
    listen 127.0.0.1:${other} ssl;
    access_log ${folder}/elsewhere.log everything;
    location / { return 404; }
  }
}`;
