// Two services that differ only in their rows: one has ten times the users, workstations, groups, revisions and audit entries of
// the other.
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import { POLICY_CAPABILITIES } from "../../../src/domain/governance/wire.ts";
import { ACCESS_TOKEN_TTL_SECONDS } from "../../../src/platform/config/settings/access.ts";
import { clientReport } from "../clients/client-report.ts";
import { writeGroups } from "../console/console-groups.ts";
import { readTokens } from "../fleet/fleet-requests.ts";
import { writeFleet } from "../fleet/fleet-rows.ts";
import { publishPolicies, publishRequirement } from "../fleet/workstations.ts";
import type { Running } from "../processes.ts";
import { administratorOf, logIn, openBeside, startQuartermaster } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";

const SCIM_TOKEN = "a-token-of-the-identity-provider-in-the-configuration";
/** of the fleet, whose requests are sent */
const ASKING = 1_000;
const RENEWING = 100;

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
  /** of the database file, after it was filled */
  databaseBytes: number;
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
  const scimToken = join(directory, "scim-token");
  writeFileSync(scimToken, SCIM_TOKEN, { mode: 0o600 });
  const first = await startQuartermaster(data);
  await first.stop();
  const seeded = await seed(data, first.port, { ...rows, tokens });
  const databaseBytes = statSync(seeded.database).size;
  const service = await startQuartermaster(
    data,
    ...["--server-listen", `127.0.0.1:${first.port}`, "--scim-token-file", scimToken],
    ...["--scim-requests-per-second", "100000", "--scim-requests-burst", "100000", ...flags],
  );
  const asking = (await readTokens({ tokens })).slice(0, ASKING);
  return {
    ...{ service, databaseBytes, ...seeded },
    operations: await operationsOn(service, { asking, ...seeded, ...rows }),
  };
}

async function seed(data: string, port: number, { tokens, ...rows }: Rows & { tokens: string }) {
  const installation = await openBeside(data, port, {
    accessAccessTokenTtlSeconds: String(ACCESS_TOKEN_TTL_SECONDS.max),
  });
  const { current: policy } = await publishPolicies(installation);
  for (let at = 0; at < rows.revisions; at++) await publishRequirement(installation, `>=2.1.${at}`);
  const { workstations: count } = rows;
  await writeFleet(installation, { count, policy, tokens, round: count });
  await recordEntries(installation, rows.auditEntries);
  const cookie = await signIn(installation);
  const refreshTokens = (await logIn(installation, RENEWING)).map(({ refresh_token: token = "" }) => token);
  const { database } = installation.directory;
  await installation.close();
  writeGroups(database);
  return { database, policy, cookie, refreshTokens };
}

async function recordEntries(installation: ExistingInstallation, count: number): Promise<void> {
  const administrator = administratorOf(installation);
  const { exports } = installation.domain;
  for (let at = 0; at < count; at += ASKING)
    await Promise.all(
      Array.from({ length: ASKING }, (_, rows) =>
        exports.record(administrator, { list: "users", filter: "", rows }),
      ),
    );
}

async function signIn(installation: ExistingInstallation): Promise<string> {
  const { db, domain } = installation;
  const { token } = await db.write(
    (tx) =>
      domain.access.sessions.open(tx, administratorOf(installation).id, { address: null, userAgent: null }),
    "access",
  );
  return `${SESSION_COOKIE}=${token}`;
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
  const client = {
    "User-Agent": "blue/1.0.0",
    "x-blue-contract-version": "3",
    "x-blue-capabilities": POLICY_CAPABILITIES.join(","),
  };
  const etag = await etagFor(port, { ...client, Authorization: `Bearer ${asking[0]}` });
  const page = (path: string): Operation => ({
    requests: [{ method: "GET", path, headers: { cookie } }],
    status: 200,
    isSlow: true,
  });
  const scim = { Authorization: `Bearer ${SCIM_TOKEN}` };
  const someone = Math.floor(workstations / 2);
  return {
    "unchanged policy": {
      requests: asking.map((token) => ({
        method: "GET",
        path: "/governance-config",
        headers: { ...client, Authorization: `Bearer ${token}`, "If-None-Match": etag },
      })),
      status: 304,
    },
    report: {
      requests: asking.map((token, at) => ({
        method: "POST",
        path: "/client-status",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(clientReport(at, policy)),
      })),
      status: 204,
    },
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
    "console: audit log": page("/console/audit"),
    "console: revisions": page("/console/policy/history"),
  };
}

async function etagFor(port: number, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/governance-config`, { headers });
  if (answer.status !== 200) throw new Error(`no policy: ${await answer.text()}`);
  return answer.headers.get("etag") ?? "";
}
