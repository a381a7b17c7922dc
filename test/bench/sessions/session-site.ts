// A service that accepts captured sessions, a bare server that stores bytes, and the requests of workstations to both.
import { join } from "node:path";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { sessionArtifacts } from "../../../src/domain/sessions/tables.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { sectionOf } from "../../domain/governance/governance-world.ts";
import { announcementOf } from "../../support/content/sessions.ts";
import { cleanEnvironment, onItsCore, type Running, script, startServer } from "../processes.ts";
import { addUsers, logIn, openBeside, startQuartermaster } from "../tools/installation.ts";
import { bytesOf, type TransferPlan, type TransferResult } from "./transfer.ts";

export type Requests = TransferPlan["requests"];

export interface SessionSite extends AsyncDisposable {
  service: Running;
  bare: Running;
  tokens: readonly string[];
  /** data directory */
  data: string;
}

/** fewer than the limit of pending uploads of one user */
export const PER_USER = 150;
const USERS = 20;

export async function startSessionSite(directory: string): Promise<SessionSite> {
  await using starting = new AsyncDisposableStack();
  const data = join(directory, "data");
  const service = await startQuartermaster(data);
  starting.defer(service.stop);
  const bare = await startServer(script("sessions/bare-store.ts", directory, await emptyDatabase(directory)));
  starting.defer(bare.stop);
  const installation = await openBeside(data, service.port);
  const tokens = await prepare(installation, service.port);
  await installation.close();
  const started = starting.move();
  return { service, bare, tokens, data, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** @returns the database of an installation with as many users, which no service uses */
async function emptyDatabase(directory: string): Promise<string> {
  const data = join(directory, "rows");
  const service = await startQuartermaster(data);
  await service.stop();
  const installation = await openBeside(data, service.port);
  await addUsers(installation, operatorOf(installation), USERS);
  await installation.close();
  return join(data, "quartermaster.db");
}

const operatorOf = ({ organizationId }: ExistingInstallation) =>
  ({ kind: "operator", id: null, label: "bench", organizationId }) as const;

async function prepare(installation: ExistingInstallation, port: number): Promise<string[]> {
  const { domain } = installation;
  const operator = operatorOf(installation);
  const presign_url = `http://127.0.0.1:${port}/session-uploads/presign`;
  const input = JSON.stringify(sectionOf({ session_upload: { presign_url }, allowed_harnesses: ["codex"] }));
  await domain.governance.deployments.apply(operator, { input, variables: {}, linesOf: async () => [] });
  const tokens: string[] = [];
  for (const member of await addUsers(installation, operator, USERS))
    tokens.push(...(await logIn(installation, 1, member)).map(({ access_token: token }) => token));
  return tokens;
}

const originOf = ({ port }: Running): string => `http://127.0.0.1:${port}`;

/**
 * @param batch different batches have different sessions
 * @returns one announcement for each session, of the same bytes, spread over the users
 */
export function announcements(
  site: SessionSite,
  { sessions, sizeBytes, batch = 0 }: { sessions: number; sizeBytes: number; batch?: number },
): Requests {
  const announced = announcementOf(bytesOf(sizeBytes));
  return Array.from({ length: sessions }, (_, at) => ({
    url: `${originOf(site.service)}/session-uploads/presign`,
    method: "POST",
    headers: {
      authorization: `Bearer ${site.tokens[at % site.tokens.length]}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ ...announced, session_id: `native-${at}-${sizeBytes}-${batch}` }),
  }));
}

export interface Announced {
  upload: Requests[number];
  complete: Requests[number];
}

/** Sends announcements one after the other. */
export async function announce(site: SessionSite, requests: Requests): Promise<Announced[]> {
  const announced: Announced[] = [];
  for (const { url, method, headers = {}, body = "" } of requests) {
    const answer = await fetch(url, { method, headers: { ...headers }, body });
    if (answer.status !== 200) throw new Error(await answer.text());
    const presigned = await answer.json();
    announced.push({
      upload: { url: presigned.upload_url, method: "PUT", headers: presigned.headers },
      complete: { url: `${originOf(site.service)}${presigned.complete_url}`, method: "POST", headers },
    });
  }
  return announced;
}

/** Marks all announced bytes as verified, because verifying them takes longer than the measurement. */
export async function proveAll({ data, service }: SessionSite): Promise<void> {
  const installation = await openBeside(data, service.port);
  await installation.db.write((tx) => void tx.update(sessionArtifacts).set({ storedAtMs: 1 }).run());
  await installation.close();
}

export const bareUpload = ({ bare }: SessionSite): Requests[number] => ({
  url: `${originOf(bare)}/upload`,
  method: "PUT",
});
export const bareDownload = ({ bare }: SessionSite, sizeBytes: number): Requests[number] => ({
  url: `${originOf(bare)}/${sha256Hex(bytesOf(sizeBytes))}`,
  method: "GET",
});
/** What the bare server writes for a request: a row, or all rows of an announcement or a completion. */
export type BareWrite = "row" | "announcement" | "completion";

/** Durable writes for each of the requests, which the bare server reads. */
export const bareWrites = ({ bare }: SessionSite, requests: Requests, what: BareWrite): Requests => {
  const url = what === "row" ? originOf(bare) : `${originOf(bare)}/${what}`;
  return requests.map((request) => ({ body: "{}", ...request, url }));
};

/** Runs one plan in a separate process. @returns milliseconds @throws if a response had another status */
export async function transfer(plan: TransferPlan, wanted: number): Promise<number> {
  const child = Bun.spawn(onItsCore("measuring", script("sessions/transfer.ts")), {
    env: cleanEnvironment(),
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const { ms, statuses }: TransferResult = await new Response(child.stdout).json();
  if (statuses[wanted] !== plan.requests.length)
    throw new Error(`wanted ${wanted}: ${JSON.stringify(statuses)}`);
  return ms;
}
