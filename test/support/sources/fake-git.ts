// A replacement for git, which the suite does not need: a server that offers repositories, and a program that responds like git and
// records how it was called. `bun run test:git` has the real ones.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "../../../src/domain/catalog/connections/connection.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { tarEntry, tarFolder, tarOf } from "../content/tar.ts";

export const LOGIN = { username: "reader", token: "a-token-that-may-read" };
export const COMMIT = "1".repeat(40);

export interface GitServer extends Disposable {
  origin: string;
  /** headers of each request */
  seen: { path: string; headers: Headers }[];
  answer: (request: Request) => Response;
}

const offer = () =>
  new Response("", { headers: { "content-type": "application/x-git-upload-pack-advertisement" } });

/** @returns a server without TLS that offers every repository */
export function createGitServer(): GitServer {
  const listening = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      server.seen.push({ path: new URL(request.url).pathname, headers: request.headers });
      return server.answer(request);
    },
  });
  const server: GitServer = {
    origin: `http://127.0.0.1:${listening.port}`,
    seen: [],
    answer: offer,
    [Symbol.dispose]: () => void listening.stop(true),
  };
  return server;
}

/** @returns a connection of the provider `git` to a server */
export const gitConnectionTo = (
  { origin }: Pick<GitServer, "origin">,
  more: Partial<Connection> = {},
): Connection => ({
  id: "host",
  name: "Host",
  provider: "git",
  apiBase: origin,
  downloadOrigins: [],
  namespaces: ["*"],
  clone: { base: origin, path: "{namespace}/{name}" },
  ca: undefined,
  skipLinks: false,
  watchEveryHours: undefined,
  webhookSecret: undefined,
  credential: () => ({ kind: "login", username: LOGIN.username, token: new Secret(LOGIN.token) }),
  ...more,
});

export interface FakeGit {
  /** absolute */
  path: string;
  /** @returns the arguments of each run after the settings, oldest first */
  runs(): string[];
  /** @returns the environment of all runs */
  environment(): string;
  /** @returns the settings that the last run read */
  settings(): string;
}

/** Its replacement for each git command, as shell lines. */
export type Lines = Partial<
  Record<"version" | "ls-remote" | "fetch" | "log" | "ls-tree" | "archive", string>
>;

/** @param folder empty @param files of the commit COMMIT, which is the branch `main` and the annotated tag `v1` */
export function createFakeGit(
  folder: string,
  files: Readonly<Record<string, string>>,
  lines: Lines = {},
): FakeGit {
  mkdirSync(folder, { recursive: true });
  const entries = Object.entries(files).map(([name, body]) => tarEntry({ name: `archive/${name}` }, body));
  writeFileSync(join(folder, "archive.tar"), tarOf(tarFolder("archive/"), ...entries));
  const tag = "2".repeat(40);
  const answers: Required<Lines> = {
    version: "echo git version 2.39.5",
    "ls-remote": `printf '%s\\t%s\\n' ${COMMIT} refs/heads/main ${COMMIT} refs/x/refs/heads/main ${tag} refs/tags/v1 ${COMMIT} 'refs/tags/v1^{}'`,
    fetch: ":",
    log: `echo ${COMMIT} 1762934950`,
    "ls-tree": `printf '040000 tree ${COMMIT}\\tskills\\0'`,
    archive: `cat '${folder}/archive.tar'`,
    ...lines,
  };
  const cases = Object.entries(answers).map(([command, line]) => `*" ${command} "*) ${line};;`);
  const path = join(folder, "git");
  writeFileSync(
    path,
    `#!/bin/sh
env >> '${folder}/environment'
[ "$1" = -c ] && cat /dev/fd/3 > '${folder}/settings' && shift 2
echo "$*" >> '${folder}/runs'
case " $* " in
${cases.join("\n")}
esac
`,
    { mode: 0o700 },
  );
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  return {
    path,
    runs: () => read("runs").trim().split("\n"),
    environment: () => read("environment"),
    settings: () => read("settings"),
  };
}
