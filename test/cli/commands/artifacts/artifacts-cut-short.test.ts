// Mirroring that is killed at any step leaves nothing partial, and the next one succeeds; and mirroring through the operator's
// proxy.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomFillSync } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { OPTIMIZED, productCommand, SHORT_LIVED } from "../../../support/cli/executable.ts";
import { type Bench, createInstallation } from "../../../support/in-process.ts";
import { createConnectProxy } from "../../../support/network/connect-proxy.ts";
import { createInstalledHost, HOST_CONFIG } from "../../../support/sources/installed-host.ts";
import type { RepositoryHost } from "../../../support/sources/repository-host.ts";

/** Size of a file that is written in many pieces, so that a kill can come between two of them. */
const FILE_BYTES = 4 * 1024 * 1024;

let bench: Bench;
let host: RepositoryHost;
beforeEach(async () => {
  bench = await createInstallation();
  host = await createInstalledHost(bench.folder);
});
afterEach(() => {
  host[Symbol.dispose]();
  bench[Symbol.dispose]();
});

const NAMED = "--connection forge --repository acme/tools --ref main";

/** Starts the executable in a separate process. @param env variables of the process */
const start = (line: string, env: Readonly<Record<string, string>> = {}) =>
  Bun.spawn([...productCommand(), ...line.split(" "), "--config", HOST_CONFIG, "--data-dir", bench.data], {
    ...{
      cwd: bench.folder,
      env: { ...SHORT_LIVED, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    },
  });

const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> =>
  new Response(stream).text();

const namesIn = (folder: string): string[] =>
  existsSync(join(bench.data, folder)) ? readdirSync(join(bench.data, folder)) : [];
const workFolders = () => namesIn("sources");
const halfStored = () => namesIn("artifacts").filter((name) => name.startsWith("put-"));

const STORED = "the archive is stored";

function commitLarge(): void {
  const large = randomFillSync(Buffer.alloc(FILE_BYTES / 2)).toString("hex");
  host.branches.set("main", host.commit({ "skills/guide/SKILL.md": "# Guide\n", "large.txt": large }));
}

/** Points at which the process is killed, in their order. */
const STEPS: Readonly<Record<string, () => boolean>> = {
  "the host resolves the ref": () => host.seen.length > 0,
  "the host is asked for the archive": () => host.seen.some(({ path }) => path.includes("/archive/")),
  "the archive is made": () => workFolders().length > 0,
  [STORED]: () => halfStored().length > 0,
};

describe("SRC-41 artifacts create that is killed while", () => {
  test.each(Object.entries(STEPS))(
    "%s leaves nothing half done, and the next one succeeds",
    async (step, isThere) => {
      if (step === STORED) commitLarge();
      const child = start(`artifacts create ${NAMED}`, step === STORED ? OPTIMIZED : {});
      while (!isThere() && child.exitCode === null) await (step === STORED ? nextTurn() : Bun.sleep(1));
      child.kill("SIGKILL");
      expect(await child.exited).toBe(137);
      expect((await bench.json("artifacts list")).items).toEqual([]);
      const made = await bench.json(`artifacts create ${NAMED} --config ${HOST_CONFIG}`);
      expect((await bench.json("artifacts list")).items).toMatchObject([{ id: made.artifact_id }]);
      expect(await bench.json("artifacts verify")).toMatchObject({
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

  const createThrough = async (env: (proxy: string) => Readonly<Record<string, string>>) => {
    const { port, host: authority } = new URL(host.origin);
    await using proxy = await createConnectProxy(Number(port), { authorization });
    const child = start(`artifacts create ${NAMED}`, env(proxy.origin.replace("//", `//${CREDENTIAL}@`)));
    const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    const { asked } = proxy;
    return { exitCode: await child.exited, text: stdout + stderr, asked: new Set(asked), authority };
  };

  test("goes through HTTPS_PROXY, whose credential is not shown", async () => {
    const { exitCode, text, asked, authority } = await createThrough((proxy) => ({ HTTPS_PROXY: proxy }));
    expect([exitCode, [...asked]]).toEqual([0, [`CONNECT ${authority} HTTP/1.1`]]);
    expect(text).not.toContain("proxy-secret");
  });

  test("does not where NO_PROXY names its host", async () => {
    const direct = (proxy: string) => ({ HTTPS_PROXY: proxy, NO_PROXY: "localhost" });
    const { exitCode, asked } = await createThrough(direct);
    expect([exitCode, [...asked]]).toEqual([0, []]);
  });
});
