// etcd as a reference for the client inventory, where it is installed (Debian's package etcd-server): one member with its data in a
// folder of the benchmark, which by default syncs every write before it responds.
import { join } from "node:path";
import { freePort } from "../../support/network/free-port.ts";
import { cleanEnvironment, onItsCore, type Running, script } from "../processes.ts";
import type { EtcdPlan, EtcdResult } from "./etcd-load.ts";

const START_LIMIT_MS = 10_000;

/** @returns the running member; undefined if there is no etcd on the PATH */
export async function startEtcd(directory: string): Promise<Running | undefined> {
  const executable = Bun.which("etcd");
  if (executable === null) return undefined;
  const [port, peerPort] = [freePort(), freePort()];
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const addresses = ["--listen-client-urls", client, "--advertise-client-urls", client];
  const peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer];
  const member = ["--initial-cluster", `default=${peer}`, "--logger", "zap"];
  const command = [executable, "--data-dir", join(directory, "etcd"), ...addresses, ...peers, ...member];
  const log = Bun.file(join(directory, "etcd.log"));
  const child = Bun.spawn(onItsCore("measured", command), {
    env: cleanEnvironment(),
    stdout: log,
    stderr: log,
  });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  if (await isHealthySoon(client)) return { pid: child.pid, port, stop };
  await stop();
  throw new Error(`etcd did not start: ${await log.text()}`);
}

async function isHealthySoon(origin: string): Promise<boolean> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline) {
    const isHealthy = await fetch(`${origin}/health`).then(
      ({ ok }) => ok,
      () => false, // it does not listen yet
    );
    if (isHealthy) return true;
    await Bun.sleep(50);
  }
  return false;
}

/** Runs one plan in a separate process. @throws if a Put was refused, or a connection broke */
export async function loadEtcd(plan: EtcdPlan): Promise<EtcdResult> {
  const child = Bun.spawn(onItsCore("measuring", script("fleet/etcd-load.ts")), {
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const result: EtcdResult = JSON.parse(await new Response(child.stdout).text());
  if (result.errors === 0 && result.perSecond > 0) return result;
  throw new Error(`etcd refused: ${JSON.stringify(result)}`);
}
