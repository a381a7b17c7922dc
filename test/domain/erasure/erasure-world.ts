// A person with rows in every table that refers to people, together with other people.

import { Database } from "bun:sqlite";
import type { User } from "../../../src/domain/identity/model.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { remember } from "../../support/content/copies.ts";
import { publishFirst } from "../../support/content/policy.ts";
import { tablesOf } from "../../support/content/schema.ts";
import { createGatewayServer, type GatewayServer } from "../../support/gateway/gateway-server.ts";
import { rowOf, until } from "../../support/inference/request-rows.ts";
import { giveApp, givePasskey } from "../../support/second-factor/given-factors.ts";
import { type Caller, PASSWORD } from "../../support/server.ts";
import { createWorld } from "../../support/world.ts";
import { reportWith } from "../clients/policies.ts";
import { managedText } from "../governance/governance-world.ts";

/** Part of the address of another person, who stays. */
export const ANA = "ana@example.org";
export const JULIANA = "juliana@example.org";
export const HOST = "workbench-7";
export const OTHER_HOST = "lab-2";
/** invited, and never accepted */
export const INVITED = "carl@example.org";

/** Ana's subject at the identity provider */
export const AT_PROVIDER = { issuer: "https://id.example.org", subject: "00u1a2b3" };

export interface ErasureWorld extends GatewayServer {
  ana: Caller;
  juliana: Caller;
  root: Caller;
  operator: Actor;
}

let made: ReturnType<typeof makePeople> | undefined;

/** A separate server on a copy of these people's rows, which are created once. */
export async function createErasureWorld(): Promise<ErasureWorld> {
  made ??= makePeople();
  const { copy, people, keys } = await made;
  const server = await createGatewayServer({ world: await createWorld({ copy }) });
  for (const { user } of Object.values(people)) server.upstream.addUser(user.email);
  server.upstream.keys.push(...structuredClone(keys));
  return { ...server, ...people, operator: operatorOf(server) };
}

/** Ana is an administrator who signed in, reported, invited and published, and who occurs in other people's rows. */
async function makePeople() {
  await using server = await createGatewayServer();
  const root = await server.signedIn("admin", { email: "root@example.org" });
  const juliana = await server.signedIn("member", { email: JULIANA });
  const ana = await server.signedIn("admin", { email: ANA });
  await leaveTraces(server, { ana, operator: operatorOf(server) });
  await giveApp(server, ana);
  await givePasskey(server, ana);
  const credential = { email: ANA, password: new Secret(PASSWORD), address: null, userAgent: null };
  await server.domain.access.sessions.signIn(credential).catch(() => {}); // waits for the second factor
  await asAna(server, juliana, OTHER_HOST);
  return {
    copy: remember(server.world.directory),
    people: { ana, juliana, root },
    keys: server.upstream.keys,
  };
}

const operatorOf = ({ world }: GatewayServer): Actor => ({
  ...world.system,
  kind: "operator",
  label: "olga",
});

/** The requests of a user's workstation in a day. */
async function asAna({ request }: GatewayServer, { accessToken: token }: Caller, hostname: string) {
  const responses = [
    await request("POST", "/client-status", { token, body: reportWith({ hostname }) }),
    await request("POST", "/gateway/key/ensure", { token }),
    await request("POST", "/gateway/token", { token }),
  ];
  for (const response of responses)
    if (!response.ok) throw new Error(`${response.url}: ${await response.text()}`);
}

async function leaveTraces(server: GatewayServer, { ana, operator }: { ana: Caller; operator: Actor }) {
  const { domain, request } = server;
  const base_revision = await publishFirst(server);
  await asAna(server, ana, HOST);
  await removeClient(server, operator);
  await asAna(server, ana, HOST);
  const { actor, accessToken: token } = ana;
  const invitation = { email: INVITED, role: "member" };
  const headers = { "idempotency-key": "one" };
  const comment = `${ANA} asked for it, ${JULIANA} agreed`;
  const policy = { base_revision, managed_yaml: managedText({ required: true }), comment };
  const responses = [
    await request("POST", "/admin/invitations", { token, headers, body: invitation }),
    await request("PUT", "/admin/governance-config", { token, body: policy }),
    await request("PUT", "/admin/policy-draft", {
      token,
      body: { version: 0, managed_yaml: managedText({ required: false }) },
    }),
  ];
  for (const response of responses) if (!response.ok) throw new Error(await response.text());
  const source = { sourceRef: "guide.tar.gz", artifactId: "guide", sha256: "ab".repeat(32) };
  await domain.packageAdditions.start(actor, source);
  await keptViews(server, ana);
  await domain.scim.tokens.create(actor, { label: "okta", profile: "standard" });
  await domain.identity.passwordLinks.create(operator, ana.user.id);
  await domain.sso.identities.create(operator, { userId: ana.user.id, ...AT_PROVIDER });
  const toIssuer = "https://new.example.org";
  await domain.sso.moves.move(operator, { fromIssuer: AT_PROVIDER.issuer, toIssuer, by: "email" });
  await request("POST", "/api/auth/sign-in/email", { body: { email: ANA, password: "a wrong password" } });
  await begunLogin(server, ana);
  await usedModels(server, ana);
  keepRefusal(server, ana);
}

/** A view that other administrators see, and a list with columns of her own. */
async function keptViews({ domain }: GatewayServer, { actor, user }: Caller): Promise<void> {
  const owner = { actor, userId: user.id, mayShare: true, readsAll: true };
  const list = { path: "/console/users", query: "columns=-role" };
  await domain.preferences.replace(owner, { views: [{ ...list, name: ANA, isShared: true }], lists: [list] });
}

/** The operator removes the one workstation from the inventory, so that the audit log names it. */
async function removeClient({ domain }: GatewayServer, operator: Actor): Promise<void> {
  const [client] = domain.clients.inventory.list(operator.organizationId, {}).items;
  await domain.clients.removals.remove(operator, client?.id ?? "");
}

/** A request to a model, which is in the log and in the sums. */
async function usedModels({ requestLog, domain }: GatewayServer, { user }: Caller): Promise<void> {
  const row = rowOf(1, { userId: user.id, organizationId: user.organizationId });
  requestLog.add(row);
  domain.usage.count(row);
  await domain.usage.flush();
  await until(() => requestLog.queueFigures().rows === 0);
}

/** A device login that Ana has opened but not decided. */
async function begunLogin({ domain }: GatewayServer, { actor }: Caller): Promise<void> {
  const { linkToken } = await domain.access.deviceLogins.request({ clientId: "blue-cli", address: null });
  await domain.access.deviceLogins.claim(actor, linkToken);
}

const keepRefusal = ({ domain }: GatewayServer, { user }: Caller): void =>
  domain.scim.refusals.keep(user.organizationId, {
    requestId: "r",
    actor: "scim:okta",
    method: "POST",
    route: `/scim/v2/Users/${user.id}`,
    status: 409,
    scimType: "uniqueness",
    detail: `userName: ${ANA.toUpperCase()} is taken`,
  });

/** @returns the rows of every table as text */
export function dumpOf({ file }: { file: string }): Record<string, string> {
  using db = new Database(file, { readonly: true });
  return Object.fromEntries(
    tablesOf(db).map((name) => [name, JSON.stringify(db.query(`SELECT * FROM "${name}"`).all())]),
  );
}

/** @returns the tables that identify the person: by address, id, subject, or workstation */
export function tablesNaming(world: { file: string }, user: User, ...more: string[]): string[] {
  const words = [user.id, user.subject, ...more].map(RegExp.escape).join("|");
  const naming = new RegExp(`(?<!juli)${RegExp.escape(user.email)}|${words}`, "i");
  return Object.entries(dumpOf(world))
    .filter(([, text]) => naming.test(text))
    .map(([name]) => name);
}
