// Mirroring that is killed at any step leaves nothing partial, and the next one succeeds; and mirroring through the operator's
// proxy.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomFillSync } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { productCommand, SHORT_LIVED } from "../../../support/cli/executable.ts";
import { stopAt } from "../../../support/cli/stop-child.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { createConnectProxy } from "../../../support/network/connect-proxy.ts";
import { createInstalledHost, HOST_CONFIG } from "../../../support/sources/installed-host.ts";
import type { RepositoryHost } from "../../../support/sources/repository-host.ts";

/** Size of a file that is written in many pieces, so that a kill can come between two of them. */
const FILE_BYTES = 4 * 1024 * 1024;

let workspace: Workspace;
let host: RepositoryHost;
beforeEach(begin);
afterEach(end);

async function begin(): Promise<void> {
  workspace = await createInstallation();
  host = await createInstalledHost(workspace.folder);
}

function end(): void {
  host[Symbol.dispose]();
  workspace[Symbol.dispose]();
}

const NAMED = "--connection forge --repository acme/tools --ref main";

/** Starts the executable in a separate process. @param env variables of the process */
const start = (line: string, env: Readonly<Record<string, string>> = {}) =>
  Bun.spawn(
    [...productCommand(), ...line.split(" "), "--config", HOST_CONFIG, "--data-dir", workspace.data],
    {
      cwd: workspace.folder,
      env: { ...SHORT_LIVED, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    },
  );

const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> =>
  new Response(stream).text();

const namesIn = (folder: string): string[] =>
  existsSync(join(workspace.data, folder)) ? readdirSync(join(workspace.data, folder)) : [];
const workFolders = () => namesIn("sources");
const workFiles = () => workFolders().flatMap((name) => namesIn(join("sources", name)));
const halfStored = () => namesIn("artifacts").filter((name) => name.startsWith("put-"));

/** Makes the host leave the requests unanswered that `isHeld` chooses. @returns whether there was one */
function holdRequests(isHeld: (path: string) => boolean): () => boolean {
  let isHolding = false;
  host.instead = ({ url }) => {
    if (!isHeld(url)) return undefined;
    isHolding = true;
    return new Promise(() => {});
  };
  return () => isHolding;
}

/** Adds a commit whose archive takes longer to make. */
function commitLarge(): void {
  const large = randomFillSync(Buffer.alloc(FILE_BYTES / 2)).toString("hex");
  host.branches.set("main", host.commit({ "skills/guide/SKILL.md": "# Guide\n", "large.txt": large }));
}

/** Points at which the process is killed, in their order. Each prepares the host, and returns whether the process is there. */
const STEPS: Readonly<Record<string, () => () => boolean>> = {
  "the host resolves the ref": () => holdRequests(() => true),
  "the host is request for the archive": () => holdRequests((url) => url.includes("/archive/")),
  "its process reads the archive": () => {
    commitLarge();
    return () => workFiles().includes("spool");
  },
  "its process writes the archive": () => {
    commitLarge();
    return () => workFiles().includes("mirror.tar.gz");
  },
};

/** Mirrors until the process is killed at the step. One that ends before it was seen there is repeated on a new installation. */
async function killAt(prepare: () => () => boolean): Promise<void> {
  for (;;) {
    const isThere = prepare();
    const child = start(`artifacts create ${NAMED}`);
    const isStopped = await stopAt(child, isThere);
    child.kill("SIGKILL");
    const exitCode = await child.exited;
    host.instead = undefined;
    if (isStopped) return expect(exitCode).toBe(137);
    end();
    await begin();
  }
}

describe("SRC-41 artifacts create that is killed while", () => {
  test.each(Object.entries(STEPS))(
    "%s leaves nothing partial, and the next one succeeds",
    async (_step, prepare) => {
      await killAt(prepare);
      expect((await workspace.json("artifacts list")).items).toEqual([]);
      const made = await workspace.json(`artifacts create ${NAMED} --config ${HOST_CONFIG}`);
      expect((await workspace.json("artifacts list")).items).toMatchObject([{ id: made.artifact_id }]);
      expect(await workspace.json("artifacts verify")).toMatchObject({
        checked: 1,
        items: [{ result: "intact" }],
      });
      expect([workFolders(), halfStored()]).toEqual([[], []]);
    },
  );
});

describe("SRC-16 a connection", () => {
  const CREDENTIAL = "operator:proxy-secret";
  const authorization = `Basic ${btoa(CREDENTIAL)}`;

  const createThrough = async (
    env: (proxy: string) => Readonly<Record<string, string>>,
    line = `artifacts create ${NAMED}`,
  ) => {
    const { port, host: authority } = new URL(host.origin);
    await using proxy = await createConnectProxy(Number(port), { authorization });
    const child = start(line, env(proxy.origin.replace("//", `//${CREDENTIAL}@`)));
    const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    const { requests } = proxy;
    return { exitCode: await child.exited, text: stdout + stderr, requested: new Set(requests), authority };
  };

  test("goes through HTTPS_PROXY, whose credential is not shown", async () => {
    const { exitCode, text, requested, authority } = await createThrough((proxy) => ({ HTTPS_PROXY: proxy }));
    expect([exitCode, [...requested]]).toEqual([0, [`CONNECT ${authority} HTTP/1.1`]]);
    expect(text).not.toContain("proxy-secret");
  });

  test("names the proxy that refuses its credential", async () => {
    const wrong = (proxy: string) => ({ HTTPS_PROXY: proxy.replace(CREDENTIAL, "operator:former-secret") });
    const created = await createThrough(wrong);
    const verified = await createThrough(wrong, "connections verify forge");
    expect([created.exitCode, verified.exitCode]).toEqual([6, 7]);
    for (const { text } of [created, verified]) {
      expect(text).toContain("the proxy between the service and the host refused the user name");
      expect(text).toContain("HTTPS_PROXY");
      expect(text).not.toContain("former-secret");
    }
  });

  test("does not use a proxy if NO_PROXY contains its host", async () => {
    const direct = (proxy: string) => ({ HTTPS_PROXY: proxy, NO_PROXY: "localhost" });
    const { exitCode, requested } = await createThrough(direct);
    expect([exitCode, [...requested]]).toEqual([0, []]);
  });
});
