// Two machines as two data directories with one address, a store that both reach through a connection that can be cut, and
// workstations that report continuously.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "../bench/tools/installation.ts";
import { OPTIMIZED, productCommand } from "../support/cli/executable.ts";
import { freePort } from "../support/network/free-port.ts";
import { TEST_KEYS } from "../support/object-store/s3-server.ts";
import { startVersitygw } from "../support/object-store/versitygw.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { createSite, type Site } from "../torture/site.ts";
import { WORKSTATIONS } from "./load.ts";

const BUCKET = "standby";
const LOOPBACK = "127.0.0.1";

export interface StageOptions {
  litestream: string;
  versitygw: string;
  lease: boolean;
}

export interface Stage extends AsyncDisposable {
  site: Site;
  lease: boolean;
  /** data directories of the two machines */
  machines: readonly [string, string];
  /** options of commands in addition to the directory */
  settings: readonly string[];
  /** the same with a connection to the store that is never cut */
  direct: readonly string[];
  link: Link;
  /** Starts the service and Litestream, by default with `settings` and at the address of the site. */
  start(data: string, where?: { settings: readonly string[]; port: number }): Promise<Machine>;
  /** Starts only the service, or only Litestream, like `start`. */
  startService(data: string): Promise<RunningService>;
  startLitestream(data: string): Promise<Bun.Subprocess>;
  /** Runs Litestream beside the replication. @returns its exit code, and its output on stderr */
  restore(data: string, target: string): Promise<{ exitCode: number; stderr: string }>;
}

export interface Machine {
  data: string;
  service: RunningService;
  /** Litestream */
  replication: Bun.Subprocess;
  /** `kill -9` of every process */
  kill(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A connection to the store that can be cut. */
export interface Link extends Disposable {
  port: number;
  cut(): void;
  mend(): void;
}

export async function createStage({ litestream, versitygw, lease }: StageOptions): Promise<Stage> {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryDirectory());
  const site = stack.use(await createSite({ workstations: WORKSTATIONS }));
  const store = stack.use(
    await startVersitygw(versitygw, { folder: join(folder.path, "store"), bucket: BUCKET }),
  );
  const link = stack.use(await createLink(store.port));
  const settings = settingsIn(folder.path, { litestream, lease, port: link.port });
  const direct = settingsIn(folder.path, { litestream, lease, port: store.port });
  const other = join(folder.path, "other");
  mkdirSync(other, { mode: 0o700 });
  for (const name of ["keys", "artifacts"])
    cpSync(join(site.data, name), join(other, name), { recursive: true });
  const here = { settings, port: site.port };
  const serviceOn = (data: string, where: { settings: readonly string[]; port: number } = here) => {
    const listen = ["--server-listen", `${LOOPBACK}:${where.port}`, "--server-public-url", site.baseUrl];
    const args = [...site.args, "--data-dir", data, ...where.settings, ...listen];
    return startService({ args, env: OPTIMIZED });
  };
  const litestreamOn = (data: string, given: readonly string[]) =>
    startLitestream({ litestream, data, folder: folder.path, settings: given });
  return {
    site,
    lease,
    link,
    settings,
    direct,
    machines: [site.data, other],
    startService: (data) => serviceOn(data),
    startLitestream: (data) => litestreamOn(data, settings),
    restore: (data, target) => restoreInto(target, { litestream, data, folder: folder.path }),
    async start(data, where = here) {
      const service = await serviceOn(data, where);
      const replication = await litestreamOn(data, where.settings);
      const stop = async () => {
        service.signal("SIGKILL");
        replication.kill("SIGKILL");
        await Promise.all([service.ended(), replication.exited]);
      };
      return { data, service, replication, kill: stop, [Symbol.asyncDispose]: stop };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function settingsIn(
  folder: string,
  { litestream, lease, port }: { litestream: string; lease: boolean; port: number },
) {
  writeFileSync(join(folder, "access-key-id"), TEST_KEYS.accessKeyId, { mode: 0o600 });
  writeFileSync(join(folder, "secret-access-key"), TEST_KEYS.secretAccessKey, { mode: 0o600 });
  const file = join(folder, `quartermaster-${port}.yaml`);
  writeFileSync(
    file,
    `database: {replicated: yes}
blobs:
  s3:
    endpoint: http://127.0.0.1:${port}
    access_key_id_file: access-key-id
    secret_access_key_file: secret-access-key
standby: {replica: "s3://${BUCKET}/quartermaster", litestream: ${litestream}, lease: ${lease ? "on" : "off"}}
`,
  );
  return ["--config", file];
}

interface Replication {
  litestream: string;
  data: string;
  folder: string;
  settings: readonly string[];
}

/** Like the unit: the configuration is generated at each start. */
async function startLitestream({ litestream, data, folder, settings }: Replication) {
  const command = [...productCommand(), "unit", "--litestream-config", "--data-dir", data, ...settings];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command); // asks no store
  if (exitCode !== 0) throw new Error(`no configuration of Litestream: ${stderr}`);
  const file = configFile(folder, data);
  writeFileSync(file, stdout);
  return Bun.spawn([litestream, "replicate", "-config", file], {
    env: ENVIRONMENT,
    stdio: ["ignore", Bun.file(join(folder, "litestream.log")), "inherit"],
  });
}

const configFile = (folder: string, data: string): string => join(folder, `litestream-${Bun.hash(data)}.yml`);

/** Environment variables of the AWS library would change the behavior of Litestream. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  LITESTREAM_ACCESS_KEY_ID: TEST_KEYS.accessKeyId,
  LITESTREAM_SECRET_ACCESS_KEY: TEST_KEYS.secretAccessKey,
};

async function restoreInto(
  target: string,
  { litestream, data, folder }: { litestream: string; data: string; folder: string },
): Promise<{ exitCode: number; stderr: string }> {
  const command = [litestream, "restore", "-config", configFile(folder, data), "-o", target];
  const child = Bun.spawn([...command, join(data, "quartermaster.db")], {
    env: ENVIRONMENT,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stderr = await new Response(child.stderr).text(); // the connection to the store is in this process
  return { exitCode: await child.exited, stderr };
}

/** Forwards bytes until it is cut. Then it answers nothing, like a firewall. */
async function createLink(target: number): Promise<Link> {
  let isCut = false;
  const pairs = new Set<[Socket, Socket]>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: target, host: LOOPBACK, allowHalfOpen: true });
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    if (isCut) near.pause();
    else near.pipe(far).pipe(near);
  });
  const port = freePort();
  await new Promise<void>((listening) => server.listen(port, LOOPBACK, listening));
  return {
    port,
    cut() {
      isCut = true;
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    mend() {
      isCut = false;
      for (const [near] of pairs) near.destroy();
    },
    [Symbol.dispose]() {
      server.close();
      for (const [near] of pairs) near.destroy();
    },
  };
}
