// Two services that differ only in the number of their rows: one has ten times the users, workstations, groups, revisions and audit
// entries of the other.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { ACCESS_TOKEN_TTL_SECONDS } from "../../../src/platform/config/settings/access.ts";
import { clientReport } from "../clients/client-report.ts";
import { policyFetch } from "../clients/policy-fetch.ts";
import { writeGroups } from "../console/console-groups.ts";
import { readTokens } from "../fleet/fleet-requests.ts";
import { writeFleet } from "../fleet/fleet-rows.ts";
import { publishPolicies, publishRequirement } from "../fleet/workstations.ts";
import type { Running } from "../processes.ts";
import { TOKEN } from "../scim/scim-plan.ts";
import { unlimitedScim } from "../scim/scim-sides.ts";
import {
  administratorOf,
  logIn,
  openBeside,
  sessionCookie,
  startQuartermaster,
} from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";

/** workstations of the fleet that send requests */
const ASKING = 1_000;
const RENEWING = 100;
/** as many versions of a harness are certified, and more */
const CERTIFIED = 100;
/** recorded in one batch, so that they share commits */
const ENTRIES_AT_ONCE = 1_000;

export interface Rows {
  workstations: number;
  revisions: number;
  auditEntries: number;
}

export interface Operation {
  requests: LoadRequest[];
  status: number;
  /** milliseconds for each request, so only some are sent */
  isSlow?: boolean;
}

export interface CapacitySite {
  service: Running;
  /** growth of the database by the workstations with their users, logins, reports and groups */
  fleetBytes: number;
  database: string;
  operations: Readonly<Record<string, Operation>>;
  refreshTokens: readonly string[];
}

/** Starts a service on a new directory with these rows. */
export async function startCapacitySite(
  directory: string,
  rows: Rows,
  flags: readonly string[] = [],
): Promise<CapacitySite> {
  const [data, tokens] = [join(directory, "data"), join(directory, "tokens")];
  const first = await startQuartermaster(data);
  await first.stop();
  const seeded = await seed(data, first.port, { ...rows, tokens });
  const service = await startQuartermaster(
    data,
    ...[
      "--server-listen",
      `127.0.0.1:${first.port}`,
      ...unlimitedScim(join(directory, "scim-token")),
      ...flags,
    ],
  );
  const asking = (await readTokens({ tokens })).slice(0, ASKING);
  return {
    service,
    ...seeded,
    operations: await operationsOn(service, { asking, ...seeded, ...rows }),
  };
}

async function seed(data: string, port: number, { tokens, ...rows }: Rows & { tokens: string }) {
  const installation = await openBeside(data, port, {
    accessAccessTokenTtlSeconds: String(ACCESS_TOKEN_TTL_SECONDS.max),
  });
  const { current: policy } = await publishPolicies(installation);
  for (let at = 0; at < rows.revisions; at++)
    await publishRequirement(installation, `>=2.1.${at % CERTIFIED}`); // each differs from the one before
  const { workstations: count } = rows;
  const { database } = installation.directory;
  const emptyBytes = bytesOf(database);
  await writeFleet(installation, { count, policy, tokens, round: count });
  const writtenBytes = bytesOf(database) - emptyBytes;
  await recordEntries(installation, rows.auditEntries);
  await installation.domain.identity.searchIndex.add(new AbortController().signal); // as the job does within a minute
  const cookie = await sessionCookie(installation);
  const refreshTokens = (await logIn(installation, RENEWING)).map(({ refresh_token: token = "" }) => token);
  await installation.close();
  const ungroupedBytes = bytesOf(database);
  writeGroups(database);
  const fleetBytes = writtenBytes + bytesOf(database) - ungroupedBytes;
  return { database, fleetBytes, policy, cookie, refreshTokens };
}

/** @returns the size of a database, with the pages that are still in its log */
function bytesOf(file: string): number {
  using database = new Database(file, { readonly: true });
  const read = (pragma: string) => Number(Object.values(database.query(`PRAGMA ${pragma}`).get() ?? {})[0]);
  return read("page_count") * read("page_size");
}

async function recordEntries(installation: ExistingInstallation, count: number): Promise<void> {
  const administrator = administratorOf(installation);
  const { exports } = installation.domain;
  const record = (rows: number) => exports.record(administrator, { list: "users", filter: "", rows });
  for (let at = 0; at < count; at += ENTRIES_AT_ONCE) {
    const length = Math.min(ENTRIES_AT_ONCE, count - at);
    await Promise.all(Array.from({ length }, (_, rows) => record(rows)));
  }
}

interface Callers {
  asking: readonly string[];
  cookie: string;
  policy: Parameters<typeof clientReport>[1];
  workstations: number;
}

async function operationsOn(
  { port }: Running,
  { asking, cookie, policy, workstations }: Callers,
): Promise<CapacitySite["operations"]> {
  const fleet = await fleetRequests(port, asking, policy);
  const page = (path: string): Operation => ({
    requests: [{ method: "GET", path, headers: { cookie } }],
    status: 200,
    isSlow: true,
  });
  const scim = { Authorization: `Bearer ${TOKEN}` };
  const someone = Math.floor(workstations / 2);
  return {
    "unchanged policy": { requests: fleet.policy, status: 304 },
    report: { requests: fleet.report, status: 204 },
    "SCIM look-up": {
      requests: [
        {
          method: "GET",
          path: `/scim/v2/Users?filter=${encodeURIComponent(`userName eq "worker-${someone}@example.com"`)}`,
          headers: scim,
        },
      ],
      status: 200,
    },
    "console: overview": page("/console"),
    "console: workstations": page("/console/clients"),
    "console: users": page("/console/users"),
    "console: one user in a search": page(`/console/users?q=worker-${someone}`),
    "console: one workstation in a search": page(`/console/clients?q=workstation-${someone}.`),
    "console: audit log": page("/console/audit"),
    "console: one action in the audit log": page("/console/audit?action=policy.publish"),
    "console: revisions": page("/console/policy/history"),
  };
}

/** @returns the requests of these workstations: a fetch of their current policy, and a report about it */
export async function fleetRequests(
  port: number,
  asking: readonly string[],
  policy: Callers["policy"],
): Promise<Record<"policy" | "report", LoadRequest[]>> {
  const etag = await policyEtag(port, asking[0]);
  return {
    policy: asking.map((token) => {
      const { headers, ...request } = policyFetch(token);
      return { ...request, headers: { ...headers, "If-None-Match": etag } };
    }),
    report: asking.map((token, at) => ({
      method: "POST",
      path: "/client-status",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(clientReport(at, policy)),
    })),
  };
}

async function policyEtag(port: number, token = ""): Promise<string> {
  const { path, headers = {} } = policyFetch(token);
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  if (answer.status !== 200) throw new Error(`no policy: ${await answer.text()}`);
  return answer.headers.get("etag") ?? "";
}
