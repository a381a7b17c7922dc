// The load of a company on one service: workstations fetch their policy, report, download a package, request their gateway key and
// refresh their tokens, and administrators read the catalog. All kinds of requests are equally frequent.
import { join } from "node:path";
import type { ExistingInstallation } from "../../src/app/installation/installation.ts";
import { REFRESH_GRANT } from "../../src/domain/access/wire.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import { clientReport, type Policy } from "./clients/client-report.ts";
import { CLIENT_HEADERS } from "./clients/policy-fetch.ts";
import { enrol, publishRequirement } from "./fleet/workstations.ts";
import { writeGatewayConfig } from "./gateway/gateway-config.ts";
import { CLIENT_ID } from "./oauth/oauth-plan.ts";
import { type Running, script, spawnLoad, startServer } from "./processes.ts";
import { logIn, openBeside, startQuartermaster } from "./tools/installation.ts";
import type { LoadPlan, LoadRequest, LoadResult } from "./tools/load.ts";

const WORKSTATIONS = 1_000;
const CONNECTIONS = 56;
/** Separate connections: each sends the token from its previous response. */
const REFRESHING = 8;
/** Each run needs new refresh tokens, because the last ones were issued to the connections. */
const LOADS_MAX = 40;
const CALLS_AT_ONCE = 8;
const EXAMPLE_CATALOG = join(import.meta.dir, "../../src/domain/catalog/example/catalog.yaml");
const PACKAGE = "review-guide";
/** bytes that the package lacks of a policy of 60 KB */
const NOTES_BYTES = 58_000;

export interface MixedSite extends AsyncDisposable {
  service: Running;
  /** @returns requests per second @throws if a response was not a success */
  load(seconds: number): Promise<number>;
}

/** Starts the service on an empty directory and signs in the company. */
export async function startMixedSite(directory: string): Promise<MixedSite> {
  await using starting = new AsyncDisposableStack();
  const gateway = await startServer(script("gateway/gateway-peer.ts"), "measuring");
  starting.defer(gateway.stop);
  const config = join(directory, "quartermaster.yaml");
  writeGatewayConfig(config, { port: gateway.port, callsAtOnce: CALLS_AT_ONCE });
  const data = join(directory, "data");
  const service = await startQuartermaster(data, "--config", config, "--catalog", EXAMPLE_CATALOG);
  starting.defer(service.stop);
  const { requests, refreshTokens } = await enrolCompany(data, service.port);
  const plan = { port: service.port, connections: CONNECTIONS, requests };
  const started = starting.move();
  return {
    service,
    async load(seconds) {
      const refreshing = refreshPlan(service.port, refreshTokens.splice(0, REFRESHING));
      const results = await Promise.all([plan, refreshing].map((one) => spawnLoad({ ...one, seconds })));
      return results.map(successes).reduce((sum, one) => sum + one, 0);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const SUCCESS = /^(?:20\d|304)$/;

function successes(result: LoadResult): number {
  const isSound = result.errors === 0 && Object.keys(result.statuses).every((status) => SUCCESS.test(status));
  if (isSound && result.requests > 0) return result.perSecond;
  throw new Error(`wanted successes only: ${JSON.stringify(result)}`);
}

async function enrolCompany(data: string, port: number) {
  const installation = await openBeside(data, port);
  try {
    const { policy, artifactId } = await publishPackage(installation);
    const batches = await Array.fromAsync(enrol(installation, { count: WORKSTATIONS, policy }));
    const logins = await logIn(installation, REFRESHING * LOADS_MAX);
    const site = {
      origin: `http://127.0.0.1:${port}`,
      policy,
      artifactId,
      administrator: bearer(logins[0]?.access_token),
    };
    const tokens = batches.flat();
    const download = await downloadOf(site, tokens[0]);
    const etag = await etagOf(site, tokens[0]);
    return {
      requests: tokens.flatMap((token, at) => requestsOf(at, { ...site, token, download, etag })),
      refreshTokens: logins.map(({ refresh_token }) => refresh_token ?? ""),
    };
  } finally {
    await installation.close();
  }
}

/** Publishes a policy of about 60 KB with a package whose archive the service stores. */
async function publishPackage(installation: ExistingInstallation) {
  const { domain, organizationId } = installation;
  const baseRevision = await publishRequirement(installation, ">=2.0.12");
  const actor: Actor = { kind: "operator", id: null, label: "bench", organizationId };
  const entry = domain.catalog.get(organizationId, PACKAGE);
  const one = { ...entry, settings: { notes: "n".repeat(NOTES_BYTES) } };
  const { id: revision } = await domain.governance.publishing.publishExtensions(actor, {
    baseRevision,
    packages: [one],
    packageAudiences: {},
  });
  const { id, version, sha256, artifact_id = "" } = entry;
  return { policy: { revision, packages: [{ id, version, sha256 }] }, artifactId: artifact_id };
}

const bearer = (token = "") => ({ Authorization: `Bearer ${token}` });
const JSON_BODY = { "Content-Type": "application/json" };

interface Site {
  origin: string;
  policy: Policy;
  artifactId: string;
  /** headers of an administrator's request */
  administrator: Record<string, string>;
}

interface Workstation extends Site {
  token: string;
  /** path of a link to the package's archive */
  download: string;
  etag: string;
}

const linkPath = ({ artifactId }: Site): string => `/package-artifacts/${artifactId}/download`;

async function downloadOf(site: Site, token: string | undefined): Promise<string> {
  const answer = await fetch(site.origin + linkPath(site), { method: "POST", headers: bearer(token) });
  if (answer.status !== 200) throw new Error(`no link: ${await answer.text()}`);
  return (await answer.json()).url.slice(site.origin.length);
}

async function etagOf({ origin }: Site, token: string | undefined): Promise<string> {
  const answer = await fetch(`${origin}/governance-config`, {
    headers: { ...CLIENT_HEADERS, ...bearer(token) },
  });
  if (answer.status !== 200) throw new Error(`no policy: ${await answer.text()}`);
  return answer.headers.get("etag") ?? "";
}

function requestsOf(at: number, workstation: Workstation): LoadRequest[] {
  const { token, policy, download, etag, administrator } = workstation;
  const headers = bearer(token);
  const client = { ...CLIENT_HEADERS, ...headers };
  const body = JSON.stringify(clientReport(at, policy));
  return [
    { method: "GET", path: "/governance-config", headers: client },
    { method: "GET", path: "/governance-config", headers: { ...client, "If-None-Match": etag } },
    { method: "POST", path: "/client-status", headers: { ...headers, ...JSON_BODY }, body },
    { method: "GET", path: "/admin/package-catalog", headers: administrator },
    { method: "POST", path: linkPath(workstation), headers },
    { method: "GET", path: download },
    { method: "POST", path: "/gateway/key/ensure", headers },
    { method: "GET", path: "/gateway/key", headers },
  ];
}

const refreshPlan = (port: number, refreshTokens: readonly string[]): Omit<LoadPlan, "seconds"> => ({
  port,
  connections: REFRESHING,
  carries: "refresh_token",
  requests: refreshTokens.map((refresh_token) => ({
    method: "POST",
    path: "/api/auth/oauth2/token",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      grant_type: REFRESH_GRANT,
      client_id: CLIENT_ID,
      refresh_token,
      resource: `http://127.0.0.1:${port}`,
    }).toString(),
  })),
});
