// Reports of workstations over HTTP, authenticated, validated and evaluated, each answered after it is written to disk. Compared
// with bun:sqlite, which commits the same bytes one by one, and with etcd if installed. All write to the same disk.
import { join } from "node:path";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { DISTINCT_TOKENS } from "../distinct-tokens.ts";
import { type Figure, race } from "../figures.ts";
import { loadEtcd, startEtcd } from "../fleet/etcd.ts";
import { enrol, publishPolicies } from "../fleet/workstations.ts";
import { load, spawnLoad, WRITING_CALLERS } from "../processes.ts";
import { openBeside, startQuartermaster, temporaryDirectory } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";
import { clientReport } from "./client-report.ts";

const ROUNDS = 7;
const SECONDS = 2;
const WARM_UP_SECONDS = 4;

interface Report {
  instanceId: string;
  token: string;
  body: string;
}

/** Measures reports of as many workstations as there are tokens. Required: 0.6 of the rate of the loop, 1.5 of etcd. */
export async function* measureClients(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using servers = new AsyncDisposableStack();
  const data = join(directory.path, "data");
  const service = await startQuartermaster(data);
  servers.defer(service.stop);
  const reports = await enrolReports(data, { port: service.port, workstations: DISTINCT_TOKENS });
  const etcd = await startEtcd(directory.path);
  if (etcd) servers.defer(etcd.stop);
  else console.error("etcd is missing: install etcd-server to compare with it");
  const loop = openLoop(join(directory.path, "loop.db"), reports);
  servers.defer(loop.close);
  const requests = reports.map(reportRequest);
  // On a busy machine a first round could end without a response, which would count as an error.
  await spawnLoad({ port: service.port, connections: WRITING_CALLERS, seconds: WARM_UP_SECONDS, requests });
  const what = `client reports, ${WRITING_CALLERS} at once`;
  yield* await race(
    {
      unit: "reports/s",
      rounds: ROUNDS,
      subjects: {
        ours: perSecond(service.port, requests),
        "one commit each": loop.perSecond,
        ...(etcd && { etcd: etcdPerSecond(etcd.port, reports) }),
      },
    },
    [
      { what, rivals: "one commit each", wanted: 0.6 },
      { what, rivals: "etcd", wanted: 1.5 },
    ],
  );
}

/** @returns the report of each workstation */
export async function enrolReports(
  data: string,
  { port, workstations }: { port: number; workstations: number },
): Promise<Report[]> {
  const installation = await openBeside(data, port);
  const { current: policy } = await publishPolicies(installation);
  const batches = await Array.fromAsync(enrol(installation, { count: workstations, policy }));
  const { total } = installation.domain.clients.inventory.list(installation.organizationId, {
    health: "current",
  });
  await installation.close();
  if (total !== workstations) throw new Error(`${total} of ${workstations} reports fulfill the policy`);
  return batches.flat().map((token, at) => {
    const report = clientReport(at, policy);
    return { token, instanceId: report.instance_id, body: JSON.stringify(report) };
  });
}

/** @returns the request with a report */
export const reportRequest = ({ token, body }: Report): LoadRequest => ({
  method: "POST",
  path: "/client-status",
  headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
  body,
});

const perSecond = (port: number, requests: LoadRequest[]) => async () =>
  (await load({ port, connections: WRITING_CALLERS, seconds: SECONDS, requests }, 204)).perSecond;

const etcdPerSecond = (port: number, reports: readonly Report[]) => {
  const puts = reports.map(({ instanceId, body }) => ({ key: instanceId, value: body }));
  return async () =>
    (await loadEtcd({ port, connections: WRITING_CALLERS, seconds: SECONDS, puts })).perSecond;
};

const TABLE =
  "CREATE TABLE reports (id TEXT PRIMARY KEY, report TEXT NOT NULL, changed INTEGER NOT NULL) STRICT";
const UPSERT = `INSERT INTO reports (id, report, changed) VALUES ($instanceId, $body, $changed)
  ON CONFLICT (id) DO UPDATE SET report = excluded.report, changed = excluded.changed`;

/** Writes the same bytes and keys with bun:sqlite, in this process, one commit each, synced like the product (connection.ts). */
function openLoop(file: string, reports: readonly Report[]) {
  const connection = openConnection(file, { create: true });
  connection.run(TABLE);
  const upsert = connection.prepare(UPSERT);
  let changed = 0;
  return {
    close: () => connection.close(),
    perSecond: async () => {
      const before = changed;
      const begin = performance.now();
      while (performance.now() < begin + SECONDS * 1_000) {
        const report = reports[changed % reports.length];
        changed += 1;
        if (report) upsert.run({ instanceId: report.instanceId, body: report.body, changed });
      }
      return ((changed - before) / (performance.now() - begin)) * 1_000;
    },
  };
}
