// Setup of the benchmarks of gateway keys: a data directory, the gateway (gateway-peer.ts) and the service, which can be restarted;
// and users whose keys are due, as rows of the database.
import { join } from "node:path";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { countStates } from "../../../src/domain/gateway/keys/store.ts";
import { gatewayKeys } from "../../../src/domain/gateway/tables.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { type Running, script, startServer } from "../processes.ts";
import { startQuartermaster, temporaryDirectory } from "../tools/installation.ts";
import { writeGatewayConfig } from "./gateway-config.ts";

export const CALLS_AT_ONCE = 8;
/** the lease of an attempt of a killed process, and the delays after it */
const SETTLING_LIMIT_MS = 10 * 60_000;
const ROWS = 500;

export interface Stage extends AsyncDisposable {
  directory: string;
  gateway: Running;
  /** starts the service, again after it was killed */
  start(): Promise<Running>;
}

/** @param callMs how long the gateway takes to create a key */
export async function setStage(callMs: number): Promise<Stage> {
  const directory = temporaryDirectory();
  const gateway = await startServer(script("gateway/gateway-peer.ts", String(callMs)), "measuring");
  const config = join(directory.path, "quartermaster.yaml");
  writeGatewayConfig(config, { port: gateway.port, callsAtOnce: CALLS_AT_ONCE });
  return {
    directory: join(directory.path, "data"),
    gateway,
    start: () => startQuartermaster(join(directory.path, "data"), "--config", config),
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      directory[Symbol.dispose]();
    },
  };
}

/** Adds users whose first key is due now. */
export const addDueUsers = ({ db, organizationId }: ExistingInstallation, count: number): Promise<void> =>
  db.write((tx) => {
    const nowMs = Date.now();
    const people = Array.from({ length: count }, (_, at) => ({
      id: systemIds.uuid(),
      email: `due-${at}@example.org`,
    }));
    for (let at = 0; at < people.length; at += ROWS) {
      const some = people.slice(at, at + ROWS);
      const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
      const account = { organizationId, role: "member", status: "active", ...times } as const;
      tx.insert(users)
        .values(some.map(({ id, email }) => ({ ...account, id, subject: id, email, emailKey: email })))
        .run();
      const key = {
        organizationId,
        state: "error",
        failures: 0,
        replacements: 0,
        leftovers: false,
        ...times,
      } as const;
      tx.insert(gatewayKeys)
        .values(
          some.map(({ id, email }) => ({
            ...key,
            userId: id,
            email,
            credentialVersion: systemIds.uuid(),
            nextAttemptAtMs: nowMs,
          })),
        )
        .run();
    }
  });

export const countReady = ({ db }: ExistingInstallation): number =>
  countStates(db.read).find(({ state }) => state === "ready")?.total ?? 0;

/** Each check counts all keys, on a core that has other work. */
const CHECK_EVERY_MS = 250;

/** @returns the duration @throws if it takes longer than any attempt may */
export async function waitUntil(
  isDone: () => boolean | Promise<boolean>,
  limitMs = SETTLING_LIMIT_MS,
): Promise<number> {
  const beginMs = performance.now();
  while (!(await isDone())) {
    if (performance.now() - beginMs > limitMs) throw new Error("what was waited for did not happen");
    await Bun.sleep(CHECK_EVERY_MS);
  }
  return performance.now() - beginMs;
}
