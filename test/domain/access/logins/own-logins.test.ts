// Operations of users on their own logins: a password change and its effects, ending one login, ending all.
import { expect, test } from "bun:test";
import { endGrants } from "../../../../src/domain/access/logins/end-logins.ts";
import { OwnLogins } from "../../../../src/domain/access/logins/own-logins.ts";
import {
  PasswordChanges,
  type PasswordChangesDependencies,
} from "../../../../src/domain/access/sign-in/password-change.ts";
import type { Identity } from "../../../../src/domain/identity/service.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { addGrant, LIMITS, PASSWORD } from "../access-world.ts";
import {
  ADDRESS,
  actorOf,
  addUser,
  afterSeconds,
  audited,
  type Browser,
  createLoginWorld,
  decide,
  type LoginWorld,
  type LoginWorldOptions,
  logIn,
  redeem,
  refresh,
  refusalOf,
  requestLogin,
  revokedReasonOf,
  signIn,
} from "../login-world.ts";

const NEXT = "an entirely new password";

const changesIn = (world: LoginWorld, more: Partial<PasswordChangesDependencies> = {}): PasswordChanges =>
  new PasswordChanges({ ...world, ...more });

async function createOwnWorld(options: LoginWorldOptions = {}) {
  const world = await createLoginWorld(options);
  return { ...world, own: new OwnLogins(world), changes: changesIn(world) };
}

const change = (
  changes: PasswordChanges,
  { actor, loginSessionId: sessionId }: Browser,
  { current = PASSWORD, next = NEXT }: { current?: string; next?: string } = {},
) => changes.change(actor, { current: new Secret(current), next: new Secret(next), sessionId });

const signsIn = (world: LoginWorld, password: string): Promise<unknown> =>
  refusalOf(
    world.sessions.signIn({
      email: "ada@example.com",
      password: new Secret(password),
      address: ADDRESS,
      userAgent: null,
    }),
  );

test("all logins of a user end except one active browser session", async () => {
  await using world = await createOwnWorld();
  const [kept, other] = [await signIn(world), await signIn(world)];
  const userId = kept.actor.id ?? "";
  const operator = { ...kept.actor, kind: "operator" as const, id: null };
  const except = (sessionId: string, of = userId) =>
    world.own.endOthersOf(operator, { userId: of, sessionId });
  expect(await refusalOf(except(kept.loginSessionId, "someone-else"))).toBe("login.not_found");
  for (const others of [1, 0]) expect((await except(kept.loginSessionId)).loginSessions).toBe(others);
  expect(await refusalOf(except(other.loginSessionId))).toBe("login.not_found");
  expect(world.own.count(kept.actor).loginSessions).toBe(1);
});

test("a password link ends with the logins of its user and is counted", async () => {
  await using world = await createOwnWorld();
  const { own, identity } = world;
  const operator: Actor = { ...actorOf(world.user), kind: "operator", id: null };
  for (const end of [
    ({ actor }: Browser) => own.endAll(actor),
    ({ actor, loginSessionId }: Browser) => own.endOthers(actor, loginSessionId),
    ({ loginSessionId: sessionId }: Browser) =>
      own.endOthersOf(operator, { userId: world.user.id, sessionId }),
  ]) {
    const { token } = await identity.passwordLinks.create(world.system, world.user.id);
    expect(await end(await signIn(world))).toMatchObject({ passwordLinks: 1 });
    const [entry] = audited(world, "user.revoke_logins");
    expect(JSON.parse(entry?.after ?? "")).toMatchObject({ password_links: 1 });
    expect(await end(await signIn(world))).toMatchObject({ passwordLinks: 0 });
    const used = identity.passwordLinks.setPassword({ token, password: new Secret(NEXT) });
    expect(await refusalOf(used)).toBe("password_link.unavailable");
  }
});

test("only the active grants of the page are returned", async () => {
  await using world = await createOwnWorld();
  const actor = actorOf(world.user);
  const [live, unasked, revoked] = [await addGrant(world), await addGrant(world), await addGrant(world)];
  const foreign = await addGrant(world, await addUser(world, "eve@example.com"));
  await world.db.write((tx) => {
    endGrants(tx, { grantIds: [revoked.id], reason: "test", nowMs: world.clock.nowMs() });
  }, "access");
  const request = [live, revoked, foreign].map(({ id }) => id);
  expect(world.own.liveGrants(actor, request)).toEqual(new Set([live.id]));
  expect(world.own.liveGrants(actor, [])).toEqual(new Set());
  expect(world.own.liveGrants(actor, [unasked.id])).toEqual(new Set([unasked.id]));
  afterSeconds(world, world.settings.refreshTokenTtlSeconds - 1);
  expect(world.own.liveGrants(actor, request)).toEqual(new Set([live.id]));
  afterSeconds(world, 1);
  expect(world.own.liveGrants(actor, request)).toEqual(new Set());
});

test("a changed password replaces the old one and records an entry without either", async () => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  await change(world.changes, browser);
  expect(await signsIn(world, PASSWORD)).toBe("access.sign_in_failed");
  expect(await signsIn(world, NEXT)).toBe("fine");
  const [entry] = audited(world, "user.change_password");
  expect(entry).toMatchObject({ actorId: world.user.id, target: world.user.id });
  expect(JSON.stringify(entry)).not.toMatch(/password"?:|entirely|horse|argon/);
});

test("the browser that changes the password gets another token, and every other browser is signed out", async () => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  const others = [await signIn(world), await signIn(world)];
  const eve = await signIn(world, await addUser(world, "eve@example.com"));
  const { sessionToken, sessionsEnded } = await change(world.changes, browser);
  expect(sessionsEnded).toBe(2);
  expect(world.sessions.find(sessionToken)?.id).toBe(browser.loginSessionId);
  for (const { sessionToken: old } of [browser, ...others]) expect(world.sessions.find(old)).toBeUndefined();
  expect(world.sessions.find(eve.sessionToken)).toBeDefined();
});

test("an expired browser is not counted among those that were signed out", async () => {
  await using world = await createOwnWorld();
  await signIn(world);
  afterSeconds(world, world.settings.browserSessionTtlSeconds);
  expect((await change(world.changes, await signIn(world))).sessionsEnded).toBe(0);
});

test("workstations stay signed in; a device login that another browser approved ends", async () => {
  await using world = await createOwnWorld();
  const { refreshToken } = await logIn(world);
  const approved = await requestLogin(world);
  await decide(world, approved, { browser: await signIn(world), decision: "approve" });
  const browser = await signIn(world);
  const own = await requestLogin(world);
  await decide(world, own, { browser, decision: "approve" });
  await change(world.changes, browser);
  expect(world.logins.list({ kind: "device_login" }).items).toHaveLength(1);
  expect(await refusalOf(refresh(world, refreshToken))).toBe("fine");
  expect(await refusalOf(redeem(world, approved.deviceCode))).toBe("invalid_grant");
  expect(await refusalOf(redeem(world, own.deviceCode))).toBe("fine");
});

test("a wrong current password changes nothing", async () => {
  await using world = await createOwnWorld();
  const [browser, other] = [await signIn(world), await signIn(world)];
  expect(await refusalOf(change(world.changes, browser, { current: "wrong" }))).toBe("access.password_wrong");
  expect(world.sessions.find(browser.sessionToken)).toBeDefined();
  expect(world.sessions.find(other.sessionToken)).toBeDefined();
  expect(await signsIn(world, PASSWORD)).toBe("fine");
});

test.each([
  ["below", LIMITS.passwordGuessesPerAccountAndAddress - 1, "fine"],
  ["at", LIMITS.passwordGuessesPerAccountAndAddress, "access.too_many_attempts"],
  ["above", LIMITS.passwordGuessesPerAccountAndAddress + 1, "access.too_many_attempts"],
])("wrong current passwords in one browser, %s the limit", async (_name, times, outcome) => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  for (let guess = 0; guess < times; guess += 1)
    await refusalOf(change(world.changes, browser, { current: "wrong" }));
  expect(await refusalOf(change(world.changes, browser))).toBe(outcome);
  // Guessing passwords in a stolen session does not keep the user from signing in.
  expect(await signsIn(world, outcome === "fine" ? NEXT : PASSWORD)).toBe("fine");
});

test("wrong current passwords count for the address together with those of signing in", async () => {
  await using world = await createOwnWorld();
  const [browser, other] = [await signIn(world), await signIn(world)];
  for (let guess = 0; guess < 2; guess += 1) {
    await refusalOf(change(world.changes, browser, { current: "wrong" }));
    await signsIn(world, "wrong");
  }
  expect(await refusalOf(change(world.changes, other, { current: "wrong" }))).toBe("access.password_wrong");
  expect(await signsIn(world, PASSWORD)).toBe("access.too_many_attempts");
  expect(await refusalOf(change(world.changes, other))).toBe("access.too_many_attempts");
});

test("a right password is not a guess and clears earlier guesses", async () => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  for (let time = 0; time < 2; time += 1) {
    for (let guess = 1; guess < LIMITS.passwordGuessesPerAccountAndAddress; guess += 1)
      await refusalOf(change(world.changes, browser, { current: "wrong" }));
    const [current, next] = time === 0 ? [PASSWORD, NEXT] : [NEXT, PASSWORD];
    expect(await refusalOf(change(world.changes, browser, { current, next }))).toBe("fine");
  }
});

test("a password that could not be hashed is not a guess", async () => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  const busy = new Error("busy");
  const hash = () => Promise.reject(busy);
  const identity = { ...world.identity, ownPasswords: { ...world.identity.ownPasswords, hash } };
  for (let time = 0; time <= LIMITS.passwordGuessesPerAccountAndAddress; time += 1)
    expect(await refusalOf(change(changesIn(world, { identity }), browser))).toBe(busy);
  expect(await refusalOf(change(world.changes, browser))).toBe("fine");
});

test("the browser that changes the password stays known, and others do not", async () => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  const credential = { email: "ada@example.com", address: ADDRESS, userAgent: null };
  const before = await world.sessions.signIn({ ...credential, password: new Secret(PASSWORD) });
  const { deviceCookie } = await change(world.changes, browser);
  const failed = (cookie: string) =>
    world.sessions
      .signIn({ ...credential, password: new Secret("wrong"), deviceCookie: cookie })
      .catch(() => {});
  for (let guess = 0; guess < LIMITS.passwordGuessesPerAccountAndAddress; guess += 1)
    await failed(before.deviceCookie);
  const password = new Secret(NEXT);
  expect(await refusalOf(world.sessions.signIn({ ...credential, password }))).toBe(
    "access.too_many_attempts",
  );
  expect(await refusalOf(world.sessions.signIn({ ...credential, password, deviceCookie }))).toBe("fine");
});

test.each([
  ["too short", "x".repeat(11), "identity.invalid"],
  ["just long enough", "x".repeat(12), "fine"],
  ["just short enough", "x".repeat(256), "fine"],
  ["too long", "x".repeat(257), "identity.invalid"],
  ["the same as before", PASSWORD, "identity.invalid"],
])("a new password that is %s", async (_name, next, outcome) => {
  await using world = await createOwnWorld();
  expect(await refusalOf(change(world.changes, await signIn(world), { next }))).toBe(outcome);
});

test("a refused new password is not a guess", async () => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  for (let time = 0; time <= LIMITS.passwordGuessesPerAddress; time += 1)
    expect(await refusalOf(change(world.changes, browser, { next: "short" }))).toBe("identity.invalid");
  expect(await signsIn(world, PASSWORD)).toBe("fine");
});

type Event = (world: LoginWorld, browser: Browser) => Promise<unknown>;

test.each<[string, Event]>([
  ["is signed out", (world, { actor, loginSessionId }) => world.logins.revoke(actor, loginSessionId)],
  ["gets a new password", ({ identity, system, user }) => identity.users.resetPassword(system, user.id)],
  ["is suspended", ({ identity, system, user }) => identity.users.setStatus(system, user.id, "suspended")],
])("a user who %s while the new password is hashed changes nothing", async (_name, event) => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  const { ownPasswords } = world.identity;
  const hash: Identity["ownPasswords"]["hash"] = async (password) => {
    await event(world, browser);
    return await ownPasswords.hash(password);
  };
  const identity = { ...world.identity, ownPasswords: { ...ownPasswords, hash } };
  const before = () => world.db.read.select({ hash: users.passwordHash }).from(users).all();
  const outcome = await refusalOf(change(changesIn(world, { identity }), browser));
  expect(outcome).toBe("access.session_invalid");
  expect(audited(world, "user.change_password")).toEqual([]);
  const hashes = JSON.stringify(before());
  await world.identity.users.setStatus(world.system, world.user.id, "active");
  expect(await signsIn(world, NEXT)).toBe("access.sign_in_failed");
  expect(JSON.stringify(before())).toBe(hashes);
});

test("the first of two simultaneous changes of one browser applies", async () => {
  await using world = await createOwnWorld();
  const browser = await signIn(world);
  const { ownPasswords } = world.identity;
  const hash: Identity["ownPasswords"]["hash"] = async (password) => {
    await change(world.changes, browser);
    return await ownPasswords.hash(password);
  };
  const identity = { ...world.identity, ownPasswords: { ...ownPasswords, hash } };
  const late = change(changesIn(world, { identity }), browser, { next: "yet another long password" });
  expect(await refusalOf(late)).toBe("access.session_invalid");
  expect(await signsIn(world, NEXT)).toBe("fine");
  expect(audited(world, "user.change_password")).toHaveLength(1);
});

test.each<[string, Partial<typeof users.$inferInsert>, LoginWorldOptions]>([
  ["was provisioned without a password", { provisioningSource: "scim", passwordHash: null }, {}],
  ["signs in at the identity provider", {}, { settings: { identityMode: "oidc" } }],
  [
    "is provisioned and signs in at the identity provider",
    { provisioningSource: "scim" },
    { settings: { identityMode: "oidc" } },
  ],
])("a user who %s has no password to change", async (_name, row, options) => {
  await using world = await createOwnWorld(options);
  await world.db.write((tx) =>
    tx
      .update(users)
      .set({ email: "ada@example.com", ...row })
      .run(),
  );
  const browser = await signIn(world);
  expect(world.changes.hasPassword(browser.actor)).toBe(false);
  expect(await refusalOf(change(world.changes, browser))).toBe("user.password_managed");
});

test("a provisioned user with a password changes it", async () => {
  await using world = await createOwnWorld();
  await world.db.write((tx) => tx.update(users).set({ provisioningSource: "scim" }).run());
  const browser = await signIn(world);
  expect(world.changes.hasPassword(browser.actor)).toBe(true);
  expect(await refusalOf(change(world.changes, browser))).toBe("fine");
  expect(await signsIn(world, NEXT)).toBe("fine");
});

test("the protected administrator changes the password even if others sign in at the identity provider", async () => {
  await using world = await createOwnWorld({ settings: { identityMode: "oidc" } });
  await world.db.write((tx) => tx.update(users).set({ protected: true }).run());
  const browser = await signIn(world);
  expect(world.changes.hasPassword(browser.actor)).toBe(true);
  expect(await refusalOf(change(world.changes, browser))).toBe("fine");
});

test("users see only their own logins, and how many workstations each browser approved", async () => {
  await using world = await createOwnWorld();
  const { grantId, browser } = await logIn(world);
  const eve = await signIn(world, await addUser(world, "eve@example.com"));
  const ids = world.own.list(browser.actor, {}).items.map(({ id }) => id);
  expect(ids).toEqual([grantId, browser.loginSessionId]);
  expect(world.own.list(eve.actor, {}).items.map(({ id }) => id)).toEqual([eve.loginSessionId]);
  expect([...world.own.countApproved([browser.loginSessionId, eve.loginSessionId])]).toEqual([
    [browser.loginSessionId, 1],
  ]);
});

test("ending a workstation ends only that one; ending a browser also ends what it approved", async () => {
  await using world = await createOwnWorld();
  const [first, second] = [await logIn(world), await logIn(world)];
  const { actor } = first.browser;
  await world.own.end(actor, first.grantId);
  expect(revokedReasonOf(world, first.grantId)).toBe("revoked_by_user");
  expect(world.sessions.find(first.browser.sessionToken)).toBeDefined();
  await world.own.end(actor, second.browser.loginSessionId);
  expect(world.sessions.find(second.browser.sessionToken)).toBeUndefined();
  expect(await refusalOf(refresh(world, second.refreshToken))).toBe("invalid_grant");
  await world.own.end(actor, second.browser.loginSessionId);
  expect(audited(world, "grant.revoke")).toHaveLength(1);
  expect(audited(world, "login_session.revoke")).toHaveLength(1);
});

test("the login of another person looks like a missing one and continues", async () => {
  await using world = await createOwnWorld();
  const { grantId, browser, refreshToken } = await logIn(world);
  const unclaimed = await requestLogin(world);
  const { items } = world.logins.list({ kind: "device_login" });
  const eve = await signIn(world, await addUser(world, "eve@example.com"));
  for (const id of [grantId, browser.loginSessionId, items[0]?.id ?? "", "no-id"]) {
    expect(await refusalOf(world.own.end(eve.actor, id))).toBe("login.not_found");
    expect(await refusalOf((async () => world.own.show(eve.actor, id))())).toBe("login.not_found");
  }
  expect(world.own.show(browser.actor, grantId)).toMatchObject({ id: grantId });
  expect(await refusalOf(refresh(world, refreshToken))).toBe("fine");
  expect(world.sessions.find(browser.sessionToken)).toBeDefined();
  expect(await refusalOf(redeem(world, unclaimed.deviceCode))).toBe("authorization_pending");
});

test("ending all logins ends every login of the person and reports how many were active", async () => {
  await using world = await createOwnWorld();
  await signIn(world);
  afterSeconds(world, world.settings.browserSessionTtlSeconds); // expired, so not counted
  const { browser, refreshToken } = await logIn(world);
  const eve = await signIn(world, await addUser(world, "eve@example.com"));
  const ended = { loginSessions: 1, grants: 1, deviceLogins: 0 };
  expect(world.own.count(browser.actor)).toEqual(ended);
  expect(await world.own.endAll(browser.actor)).toEqual({ ...ended, passwordLinks: 0 });
  expect(world.own.count(browser.actor)).toEqual({ loginSessions: 0, grants: 0, deviceLogins: 0 });
  expect(world.sessions.find(browser.sessionToken)).toBeUndefined();
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  expect(world.sessions.find(eve.sessionToken)).toBeDefined();
  expect(audited(world, "user.revoke_logins")).toHaveLength(1);
});

/** One login of every kind for a user: a browser, a workstation that it approved, a pending device login. */
async function logInEverywhere(world: LoginWorld, browser: Browser) {
  const workstation = await requestLogin(world);
  await decide(world, workstation, { browser, decision: "approve" });
  await redeem(world, workstation.deviceCode);
  const waiting = await requestLogin(world);
  await world.deviceLogins.claim(browser.actor, waiting.linkToken);
  return { browser, waiting };
}

test("counts the person's own active logins of every kind", async () => {
  await using world = await createOwnWorld();
  const { browser } = await logInEverywhere(world, await signIn(world));
  const none = { loginSessions: 0, grants: 0, deviceLogins: 0 };
  const one = { loginSessions: 1, grants: 1, deviceLogins: 1 };
  expect(world.own.count(browser.actor)).toEqual(one);
  const eve = await signIn(world, await addUser(world, "eve@example.com"));
  expect(world.own.count(eve.actor)).toEqual({ ...none, loginSessions: 1 });
  const ended = await logInEverywhere(world, await signIn(world));
  const approved = () => [...world.own.countApproved([ended.browser.loginSessionId])];
  expect(approved()).toEqual([[ended.browser.loginSessionId, 1]]);
  const { loginSessionId } = ended.browser;
  await world.deviceLogins.decide(browser.actor, {
    linkToken: ended.waiting.linkToken,
    loginSessionId,
    decision: "refuse",
  });
  await world.logins.revoke(browser.actor, loginSessionId);
  expect(world.own.count(browser.actor)).toEqual(one);
  expect(approved()).toEqual([]);
  const { browserSessionTtlSeconds, refreshTokenTtlSeconds } = world.settings;
  afterSeconds(world, Math.max(browserSessionTtlSeconds, refreshTokenTtlSeconds));
  expect(world.own.count(browser.actor)).toEqual(none);
  expect([...world.own.countApproved([browser.loginSessionId])]).toEqual([]);
});
