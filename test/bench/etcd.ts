// etcd as a peer of the client inventory, where it is installed (Debian's package etcd-server): one member with its data in
// a folder of the benchmark, and every write synced before its answer, as it comes.
import { join } from "node:path";
import type { LoadRequest } from "./load.ts";
import { cleanEnvironment, type Running } from "./processes.ts";

const START_LIMIT_MS = 10_000;

/** @returns the running member; undefined where there is no etcd on the PATH */
export async function startEtcd(directory: string): Promise<Running | undefined> {
  const executable = Bun.which("etcd");
  if (executable === null) return undefined;
  const [port, peerPort] = [freePort(), freePort()];
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const addresses = ["--listen-client-urls", client, "--advertise-client-urls", client];
  const peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer];
  const member = ["--initial-cluster", `default=${peer}`, "--enable-v2", "--logger", "zap"];
  const command = [executable, "--data-dir", join(directory, "etcd"), ...addresses, ...peers, ...member];
  const log = Bun.file(join(directory, "etcd.log"));
  const child = Bun.spawn(command, { env: cleanEnvironment(), stdout: log, stderr: log });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  if (await isHealthySoon(client)) return { pid: child.pid, port, stop };
  await stop();
  throw new Error(`etcd did not start: ${await log.text()}`);
}

/** Free a moment ago; etcd takes no 0. */
function freePort(): number {
  using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  return listener.port;
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

/** The ways to store a value over HTTP/1.1; which one is faster depends on its version and the machine. */
export const ETCD_PUTS = {
  "etcd, v3": (key: string, value: string): LoadRequest => ({
    method: "POST",
    path: "/v3/kv/put",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key: btoa(key), value: btoa(value) }),
  }),
  "etcd, v2": (key: string, value: string): LoadRequest => ({
    method: "PUT",
    path: `/v2/keys/${key}`,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: `value=${value.replaceAll(/[%&+;]/g, encodeURIComponent)}`,
  }),
};
