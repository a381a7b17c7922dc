// The servers that scim.ts measures: the service on a data directory filled beforehand, the reference, and the bare server.
import { writeFileSync } from "node:fs";
import { count, isNull } from "drizzle-orm";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import { openDataDirectory } from "../../../src/platform/data-directory/data-directory.ts";
import { waitUntil } from "../gateway/gateway-stage.ts";
import { peerOnBun, peerOnNode, type Running, script, startServer } from "../processes.ts";
import { openBeside, startQuartermaster } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";
import { FEW_USERS, lookupPath, TOKEN, userNameAt } from "./scim-plan.ts";
import { type Provisioned, provision, type Size } from "./scim-rows.ts";

export interface OurSide extends Provisioned {
  running: Running;
  databaseFile: string;
  organizationId: string;
}

/**
 * A new directory makes its first backup after the start, whose thread would use 40 MB and a second of processor time during the
 * measurement.
 */
const WITHOUT_BACKUPS = ["--backup-every-hours", "0"];

/** Writes TOKEN to a file. @returns flags for a service that accepts it at the rate of a benchmark */
export function unlimitedScim(tokenFile: string): string[] {
  writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
  const budget = ["--scim-requests-per-second", "100000", "--scim-requests-burst", "100000"];
  return [...budget, "--scim-token-file", tokenFile];
}

/**
 * Creates a data directory, fills it while no process uses it, and serves it. Another service adds the users to the search index
 * before, which takes half a minute of processor time.
 */
export async function startOurs(directory: string, size: Size): Promise<OurSide> {
  const settings = [...WITHOUT_BACKUPS, ...unlimitedScim(`${directory}.token`)];
  const begun = await startQuartermaster(directory, ...settings);
  await begun.stop();
  const installation = await openBeside(directory, begun.port);
  const provisioned = await provision(installation, size);
  const indexing = await startQuartermaster(directory, ...settings);
  await waitUntil(() => countWaiting(installation) === 0);
  await indexing.stop();
  await installation.close();
  const { organizationId } = installation;
  const databaseFile = openDataDirectory(directory).database;
  return {
    ...provisioned,
    running: await startQuartermaster(directory, ...settings),
    databaseFile,
    organizationId,
  };
}

const countWaiting = ({ db }: ExistingInstallation): number =>
  db.read.select({ total: count() }).from(users).where(isNull(users.searchNumber)).get()?.total ?? 0;

/** @returns the command lines of the reference, by the runtime that runs it */
export async function peerCommands(directory: string): Promise<Record<string, string[]>> {
  const node = Bun.which("node");
  const onBun = { "scimmy on Bun": peerOnBun("scim/scim-peer.ts") };
  return node
    ? { ...onBun, "scimmy on Node": await peerOnNode(node, "scim/scim-peer.ts", directory) }
    : onBun;
}

/**
 * @param copy file of the database in which it creates groups
 * @throws if the service answers a lookup differently
 */
export async function startBare(
  { databaseFile, organizationId, running }: OurSide,
  ...copy: string[]
): Promise<Running> {
  const origin = `http://127.0.0.1:${running.port}`;
  const bare = await startServer(script("scim/scim-bare.ts", databaseFile, organizationId, origin, ...copy));
  const { path, headers = {} } = getRequest(lookupPath(userNameAt(FEW_USERS - 1)));
  const answers = [running, bare].map(async ({ port }) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text(),
  );
  const [ours, theirs] = await Promise.all(answers);
  if (ours === theirs) return bare;
  await bare.stop();
  throw new Error(`another answer than ours, ${theirs} instead of ${ours}`);
}

const HEADERS = { Authorization: `Bearer ${TOKEN}` };

export const getRequest = (path: string, headers: Record<string, string> = {}): LoadRequest => ({
  method: "GET",
  path,
  headers: { ...HEADERS, ...headers },
});

export const sendRequest = (method: string, path: string, body: object): LoadRequest => ({
  method,
  path,
  headers: { ...HEADERS, "Content-Type": "application/scim+json" },
  body: JSON.stringify(body),
});
