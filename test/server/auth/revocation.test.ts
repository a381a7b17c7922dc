// Every operation that ends access, as a table: the workstation's token, the browser's cookie and an open stream of each work
// before it and end with it, whether the operation runs in this process or in another one on the same data directory.

import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Registry } from "prom-client";
import { grants } from "../../../src/domain/access/tables.ts";
import { REFRESH_GRACE_SECONDS } from "../../../src/domain/access/tokens/refresh-token.ts";
import { OAUTH_CLIENT_ID } from "../../../src/domain/access/wire.ts";
import { CORE_GROUP, CORE_USER } from "../../../src/domain/scim/wire.ts";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { StreamHolders } from "../../../src/server/http/event-streams.ts";
import { RevisionStreams } from "../../../src/server/policy-api/revision-streams.ts";
import { reportWith } from "../../domain/clients/policies.ts";
import { SSO } from "../../domain/sso/sso-world.ts";
import { publishFirst } from "../../support/content/policy.ts";
import { giveApp } from "../../support/second-factor/given-factors.ts";
import {
  type Caller,
  createTestServer,
  PASSWORD,
  SCIM_TOKEN,
  type TestServer,
  type TestServerOptions,
} from "../../support/server.ts";
import { readSources } from "../../support/source.ts";

/** The service that runs the operation, with other settings if given. */
type Open = (options?: TestServerOptions) => Promise<TestServer>;

interface Act {
  name: string;
  ends: readonly ("workstation" | "browser")[];
  /** stored with the grant; null if the grant continues */
  reason: string | null;
  /** @returns the user whose access ends; default: ana */
  prepare?(site: TestServer, ana: Caller): Promise<Caller>;
  perform(open: Open, caller: Caller): Promise<unknown>;
}

const BOTH = ["workstation", "browser"] as const;
const MAPPED: TestServerOptions = { scim: { groupRoleMappings: { Admins: "admin" } } };

const ask = async (site: TestServer, method: string, path: string, body?: object) => {
  const answer = await site.request(method, `/scim/v2${path}`, { token: SCIM_TOKEN, body });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : await answer.json();
};
const scimUser = (userName: string, more: object = {}) => ({ schemas: [CORE_USER], userName, ...more });
const admins = ({ user }: Caller) => ({
  schemas: [CORE_GROUP],
  displayName: "Admins",
  members: [{ value: user.id }],
});

/** The identity provider has taken the account over, and its user has signed in since. */
async function provisioned(site: TestServer, { user }: Caller): Promise<Caller> {
  await ask(site, "POST", "/Users", scimUser(user.email));
  return site.signInAgain(user);
}

const onUsers =
  (act: (users: TestServer["domain"]["identity"]["users"], caller: Caller, site: TestServer) => unknown) =>
  async (open: Open, caller: Caller) => {
    const site = await open();
    return await act(site.domain.identity.users, caller, site);
  };

async function grantIdOf({ domain }: TestServer, { accessToken }: Caller): Promise<string> {
  return (await domain.access.authenticator.bearer(accessToken)).grantId ?? "";
}

/** The user is linked to a person at a provider. */
async function linked({ domain, world }: TestServer, ana: Caller): Promise<Caller> {
  const identity = { userId: ana.user.id, issuer: SSO.issuer, subject: "ana" };
  await domain.sso.identities.create(world.system, identity);
  return ana;
}

const ACTS: readonly Act[] = [
  {
    name: "a refresh token is used again after its grace window",
    ends: ["workstation"],
    reason: "refresh_token_reused",
    async prepare({ domain, world }, ana) {
      await domain.access.grants.refresh({ refreshToken: ana.refreshToken, clientId: OAUTH_CLIENT_ID });
      world.clock.advance((REFRESH_GRACE_SECONDS + 1) * SECOND_MS);
      return ana;
    },
    async perform(open, { refreshToken }) {
      const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
      body.set("client_id", OAUTH_CLIENT_ID);
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const answer = await (await open()).request("POST", "/api/auth/oauth2/token", {
        body: `${body}`,
        headers,
      });
      expect((await answer.json()).error).toBe("invalid_grant");
    },
  },
  {
    name: "a workstation revokes its refresh token (RFC 7009)",
    ends: ["workstation"],
    reason: "revoked_by_client",
    perform: async (open, { refreshToken }) =>
      (await open()).domain.access.grants.revoke({ token: refreshToken, clientId: OAUTH_CLIENT_ID }),
  },
  {
    name: "a browser signs out",
    ends: ["browser"],
    reason: null,
    perform: async (open, { cookie }) =>
      (await open()).request("POST", "/api/auth/sign-out", { cookie, body: {} }),
  },
  {
    name: "a user changes the password in another browser",
    ends: ["browser"],
    reason: null,
    async perform(open, { user }) {
      const site = await open();
      const { actor, loginSessionId: sessionId } = await site.signInAgain(user);
      const passwords = { current: new Secret(PASSWORD), next: new Secret(`another ${PASSWORD}`) };
      await site.domain.access.passwordChanges.change(actor, { ...passwords, sessionId });
    },
  },
  {
    name: "a user ends their own login",
    ends: BOTH,
    reason: "revoked_by_user",
    perform: async (open, { actor, loginSessionId }) =>
      (await open()).domain.access.ownLogins.end(actor, loginSessionId),
  },
  {
    name: "a user ends all their logins",
    ends: BOTH,
    reason: "revoked_by_user",
    perform: async (open, { actor }) => (await open()).domain.access.ownLogins.endAll(actor),
  },
  {
    name: "a user ends all their other logins",
    ends: BOTH,
    reason: "revoked_by_user",
    async perform(open, { user }) {
      const site = await open();
      const { actor, loginSessionId } = await site.signInAgain(user);
      await site.domain.access.ownLogins.endOthers(actor, loginSessionId);
    },
  },
  {
    name: "an operator removes a user's second factors",
    ends: ["browser"],
    reason: null,
    async prepare(site, ana) {
      await giveApp(site, ana);
      return ana;
    },
    async perform(open, { user }) {
      const { domain, world } = await open();
      await domain.access.factorReset.reset(world.system, user.id);
    },
  },
  {
    name: "a password is reset",
    ends: BOTH,
    reason: "password_reset",
    perform: onUsers((users, { user }, { world }) => users.resetPassword(world.system, user.id)),
  },
  {
    name: "a user sets a password with a link",
    ends: BOTH,
    reason: "password_set",
    async perform(open, { user }) {
      const { domain, world } = await open();
      const { token } = await domain.identity.passwordLinks.create(world.system, user.id);
      await domain.identity.passwordLinks.setPassword({ token, password: new Secret(PASSWORD) });
    },
  },
  {
    name: "a user's logins are revoked",
    ends: BOTH,
    reason: "logins_revoked",
    perform: onUsers((users, { user }, { world }) => users.revokeLogins(world.system, user.id)),
  },
  {
    name: "a user is suspended",
    ends: BOTH,
    reason: "user_suspended",
    perform: onUsers((users, { user }, { world }) => users.setStatus(world.system, user.id, "suspended")),
  },
  {
    name: "a user gets another role",
    ends: BOTH,
    reason: "user_changed",
    perform: onUsers((users, { user }, { world }) => users.setRole(world.system, user.id, "admin")),
  },
  {
    name: "groups at the identity provider take the role away",
    ends: BOTH,
    reason: "user_changed",
    prepare: async (site) => site.signedIn("admin"),
    perform: async (open, { user, actor }) => {
      const { domain, world, signedIn } = await open();
      await signedIn("admin"); // the last one would keep the role
      await world.db.write(
        (tx) => void domain.identity.external.setRole(tx, { actor, user, role: "member" }),
        "access",
      );
    },
  },
  {
    name: "an operator unlinks a user from the identity provider",
    ends: BOTH,
    reason: "identity_removed",
    prepare: async (site, ana) => linked(site, ana),
    perform: async (open, { user }) => {
      const { domain, world } = await open();
      await domain.sso.identities.remove(world.system, { userId: user.id, issuer: SSO.issuer });
    },
  },
  ...([false, true] as const).map(
    (logoutEndsGrants): Act => ({
      name: `the identity provider announces a logout, which ends workstations: ${logoutEndsGrants}`,
      ends: logoutEndsGrants ? BOTH : ["browser"],
      reason: logoutEndsGrants ? "provider_logout" : null,
      prepare: async (site, ana) => linked(site, ana),
      perform: async (open) => {
        const { domain, world } = await open({ sso: () => ({ ...SSO, logoutEndsGrants }) });
        const issuedAtMs = world.clock.nowMs();
        const token = { tokenId: "1", issuedAtMs, expiresAtMs: issuedAtMs + SECOND_MS };
        await domain.sso.logout.apply({ issuer: SSO.issuer, subject: "ana", ...token }, {});
      },
    }),
  ),
  {
    name: "a user is removed",
    ends: BOTH,
    reason: "user_removed",
    perform: onUsers((users, { user }, { world }) => users.remove(world.system, user.id)),
  },
  {
    name: "the configuration makes a user the first administrator",
    ends: BOTH,
    reason: "user_changed",
    async perform(open, { user }) {
      const request = { organizationName: "Acme", adminEmail: user.email, generatePassword: false };
      await (await open()).domain.identity.bootstrap.run({ ...request, adminPassword: new Secret(PASSWORD) });
    },
  },
  {
    name: "an operator revokes a login session with the logins that it approved",
    ends: BOTH,
    reason: "revoked_by_operator",
    async perform(open, { loginSessionId }) {
      const { domain, world } = await open();
      await domain.access.logins.revoke(world.system, loginSessionId);
    },
  },
  {
    name: "an operator revokes a grant",
    ends: ["workstation"],
    reason: "revoked_by_operator",
    async perform(open, caller) {
      const site = await open();
      await site.domain.access.logins.revoke(site.world.system, await grantIdOf(site, caller));
    },
  },
  {
    name: "an operator revokes every login",
    ends: BOTH,
    reason: "logins_revoked",
    async perform(open) {
      const { domain, world } = await open();
      await domain.access.logins.revokeEverything(world.system);
    },
  },
  {
    name: "an operator revokes clients that were not seen for long",
    ends: BOTH,
    reason: "client_revoked",
    async prepare(site, ana) {
      const body = reportWith({ packages: [], harnesses: [] });
      const answer = await site.request("POST", "/client-status", { token: ana.accessToken, body });
      expect(answer.status).toBe(204);
      return ana;
    },
    async perform(open) {
      const { domain, world } = await open();
      const seenBeforeMs = world.clock.nowMs() + 1;
      expect(await domain.clients.removals.unseen(world.system, { removal: "revoke", seenBeforeMs })).toBe(1);
    },
  },
  {
    name: "an identity provider takes an account over",
    ends: BOTH,
    reason: "user_linked",
    perform: async (open, { user }) => ask(await open(), "POST", "/Users", scimUser(user.email)),
  },
  {
    name: "an identity provider deactivates a user",
    ends: BOTH,
    reason: "user_suspended",
    prepare: provisioned,
    perform: async (open, { user }) =>
      ask(await open(), "PUT", `/Users/${user.id}`, scimUser(user.email, { active: false })),
  },
  {
    name: "an identity provider gives a user another address",
    ends: BOTH,
    reason: "address_changed",
    prepare: provisioned,
    perform: async (open, { user }) =>
      ask(await open(), "PUT", `/Users/${user.id}`, scimUser("another@example.com")),
  },
  {
    name: "an identity provider deletes a user",
    ends: BOTH,
    reason: "user_removed",
    prepare: provisioned,
    perform: async (open, { user }) => ask(await open(), "DELETE", `/Users/${user.id}`),
  },
  {
    name: "a user comes into a group that gives a role",
    ends: BOTH,
    reason: "user_changed",
    prepare: provisioned,
    perform: async (open, caller) => ask(await open(MAPPED), "POST", "/Groups", admins(caller)),
  },
  {
    name: "a reload maps a group to a role",
    ends: BOTH,
    reason: "user_changed",
    async prepare(site, ana) {
      const caller = await provisioned(site, ana);
      await ask(site, "POST", "/Groups", admins(caller));
      return caller;
    },
    async perform(open) {
      const { domain, world } = await open(MAPPED);
      expect(await domain.scim.roles.applyMapping(world.system)).toBe(1);
    },
  },
];

type Stream = ReadableStreamDefaultReader<Uint8Array>;

/** A server with ana signed in, and an open stream of each of her logins. */
async function prepare(act: Act) {
  const site = await createTestServer();
  await publishFirst(site);
  const ana = await site.signedIn("member");
  const caller = (await act.prepare?.(site, ana)) ?? ana;
  const { domain, world } = site;
  const { authenticator, loginWatch } = domain.access;
  const log = createLog({ level: "error", format: "json", write: () => {}, clock: world.clock });
  const streams = new RevisionStreams({
    ...domain,
    ...world,
    loginWatch,
    holders: new StreamHolders(),
    log,
    metrics: new Registry(),
  });
  const open = {
    workstation: streams.open(await authenticator.bearer(caller.accessToken)).getReader(),
    browser: streams.open(authenticator.session(caller.sessionToken)).getReader(),
  };
  for (const stream of Object.values(open)) await stream.read();
  streams.beat();
  return { site, caller, streams, open };
}

/** @returns whether a stream has ended by now, after its last event */
async function hasEnded(stream: Stream): Promise<boolean> {
  const nothing = { done: false, value: undefined } as const;
  const silence = new Promise<typeof nothing>((resolve) => setImmediate(resolve, nothing));
  const { done, value } = await Promise.race([stream.read(), silence]);
  return value === undefined ? done : hasEnded(stream);
}

/** @returns which of the caller's credentials and streams work */
async function workingOf({ site, caller, streams, open }: Awaited<ReturnType<typeof prepare>>) {
  const status = async (sent: object) => (await site.request("GET", "/auth/me", sent)).status;
  const statuses = [await status({ token: caller.accessToken }), await status({ cookie: caller.cookie })];
  streams.beat();
  return { statuses, ended: [await hasEnded(open.workstation), await hasEnded(open.browser)] };
}

describe.each([["this process"], ["another process"]] as const)("a revocation in %s", (where) => {
  test.each(ACTS.map((act) => [act.name, act] as const))("USE-2 %s", async (_name, act) => {
    const prepared = await prepare(act);
    const { site, caller, streams } = prepared;
    const grantId = await grantIdOf(site, caller);
    const db = where === "this process" ? site.world.db : openDatabase(site.world.file);
    expect(await workingOf(prepared)).toEqual({ statuses: [200, 200], ended: [false, false] });

    await act.perform(
      async (options) => createTestServer({ world: { ...site.world, db }, ...options }),
      caller,
    );

    const isEnded = [act.ends.includes("workstation"), act.ends.includes("browser")];
    const statuses = isEnded.map((ended) => (ended ? 401 : 200));
    expect(await workingOf(prepared)).toEqual({ statuses, ended: isEnded });
    const grant = site.world.db.read.select().from(grants).where(eq(grants.id, grantId)).get();
    expect(grant?.revokedReason ?? null).toBe(act.reason);
    streams.close();
    if (db !== site.world.db) await db.close();
    await site[Symbol.asyncDispose]();
  });
});

/** Words in the source that are not the end reason of a grant, or reasons for which no grant remains. */
const NOT_IN_TABLE = new Set([
  "last_administrator", // of a role that a user keeps
  "inviter_lost_role", // of a canceled invitation
  "revoked_reason", // the column
  "user_revived", // a removed user has no grant left
]);

test("the table has every reason for which the domain ends logins", async () => {
  const areas = ["access", "identity", "clients", "sso/identities", "sso/logout"];
  const sources = await readSources(areas.map((area) => `src/domain/${area}`));
  const lines = sources
    .flatMap(({ code }) => code.split("\n"))
    .filter((line) => /reason\b|resumed/i.test(line));
  const words = lines.flatMap((line) => line.match(/(?<=")[a-z]+(?:_[a-z]+)+(?=")/g) ?? []);
  expect(words.length).toBeGreaterThan(10);
  const inTable = new Set(ACTS.map(({ reason }) => reason));
  expect(words.filter((word) => !inTable.has(word) && !NOT_IN_TABLE.has(word))).toEqual([]);
});

/** Calls that end browser sessions without a reason, and the operation of the table for each. */
const ENDS_BROWSERS: Readonly<Record<string, string>> = {
  "logins/own-logins.ts endOtherLogins": "a user ends all their other logins",
  "second-factor/factor-reset.ts endBrowserSessions": "an operator removes a user's second factors",
  "sign-in/login-sessions.ts endByToken": "a browser signs out",
  "sign-in/password-change.ts endOtherSessions": "a user changes the password in another browser",
};

test("the table has every call that ends browsers without a reason", async () => {
  const sources = await readSources(["src/domain"]);
  const calls = sources
    .filter(({ path }) => !/\/end-logins(-store)?\.ts$/.test(path))
    .flatMap(({ path, code }) =>
      [...code.matchAll(/(?<!function )\bend(BrowserSessions|OtherSessions|OtherLogins|ByToken)(?=\()/g)].map(
        ([name]) => `${path.replace("src/domain/access/", "")} ${name}`,
      ),
    );
  expect(calls.sort()).toEqual(Object.keys(ENDS_BROWSERS));
  const names = new Set(ACTS.map(({ name }) => name));
  expect(Object.values(ENDS_BROWSERS).filter((name) => !names.has(name))).toEqual([]);
});
