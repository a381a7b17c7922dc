// Password sign-in: who may sign in, the effects of a wrong password, and what is stored; and how a login session ends.
import { expect, spyOn, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENDED_LOGIN_KEPT_MS } from "../../../../src/domain/access/model.ts";
import {
  LoginSessions,
  type SignInRequest,
  USER_AGENT_LENGTH_MAX,
} from "../../../../src/domain/access/sign-in/login-sessions.ts";
import { deviceLogins, grants, loginSessions } from "../../../../src/domain/access/tables.ts";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import type { Identity } from "../../../../src/domain/identity/service.ts";
import { HOUR_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { START_MS } from "../../../support/world.ts";
import {
  type AccessWorld,
  addGrant,
  createAccessWorld,
  LIMITS,
  mintToken,
  PASSWORD,
} from "../access-world.ts";
import { isAtRest } from "../at-rest.ts";

const request = (overrides: Partial<Omit<SignInRequest, "password">> & { password?: string } = {}) => ({
  email: "ada@example.com",
  address: "192.0.2.1",
  userAgent: "Browser/1",
  ...overrides,
  password: new Secret(overrides.password ?? PASSWORD),
});

type Attempt = Parameters<typeof request>[0];

const signIn = (world: AccessWorld, attempt: Attempt = {}): Promise<string> =>
  world.sessions.signIn(request(attempt)).then(
    () => "in",
    (error: unknown) => (error instanceof DomainError ? `${error.kind} ${error.reason}` : String(error)),
  );

const FAILED = "unauthenticated access.sign_in_failed";
const TOO_MANY = "too_many access.too_many_attempts";

async function fail(world: AccessWorld, times: number, attempt: Attempt = {}): Promise<void> {
  for (let i = 0; i < times; i += 1)
    expect(await signIn(world, { ...attempt, password: "wrong" })).toBe(FAILED);
}

test("the right password opens a session that the cookie's token finds", async () => {
  await using world = await createAccessWorld();
  const { session, user } = await world.sessions.signIn(request({ email: " ADA@Example.com " }));
  expect(user).toEqual(world.user);
  expect(session.token).toMatch(/^[\w-]{43}$/);
  expect(session.expiresAtMs).toBe(START_MS + 12 * HOUR_MS);
  expect(world.authenticator.session(session.token)).toMatchObject({
    sessionId: session.id,
    userId: user.id,
  });
});

test("an unknown account, a wrong password and a suspended user get the same error", async () => {
  await using world = await createAccessWorld();
  const message = (attempt: Attempt) => world.sessions.signIn(request(attempt)).catch(String);
  const wrong = await message({ password: "wrong" });
  expect(wrong).toContain("e-mail or password is wrong");
  expect(await message({ email: "nobody@example.com" })).toBe(wrong);
  await world.identity.users.setStatus(world.system, world.user.id, "suspended");
  expect(await message({})).toBe(wrong);
});

/** Sessions for which something happens just before the password check. */
const checkingAfter = (world: AccessWorld, event: () => Promise<unknown>): LoginSessions => {
  const isPasswordOf: Identity["isPasswordOf"] = async (user, password) => {
    await event();
    return await world.identity.isPasswordOf(user, password);
  };
  return new LoginSessions({ ...world, identity: { ...world.identity, isPasswordOf }, limits: LIMITS });
};

test.each<[string, (world: AccessWorld) => Promise<unknown>]>([
  ["is suspended", ({ identity, system, user }) => identity.users.setStatus(system, user.id, "suspended")],
  ["gets a new password", ({ identity, system, user }) => identity.users.resetPassword(system, user.id)],
])("a user who %s while the old password is checked is not signed in", async (_name, change) => {
  await using world = await createAccessWorld();
  world.clock.advance(1);
  const sessions = checkingAfter(world, () => change(world));
  const refusal = await sessions.signIn(request()).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ reason: "access.sign_in_failed" });
  expect(world.db.read.select().from(loginSessions).all()).toEqual([]);
});

test("a password that could not be checked is not a guess", async () => {
  await using world = await createAccessWorld();
  const busy = new DomainError("unavailable", "passwords.busy", "too many sign-ins at this moment");
  const sessions = checkingAfter(world, () => Promise.reject(busy));
  for (let i = 0; i < 10; i += 1) expect(await sessions.signIn(request()).catch((error) => error)).toBe(busy);
  expect(await signIn(world)).toBe("in");
});

test("guesses beyond the limit are refused without a write", async () => {
  await using world = await createAccessWorld();
  await fail(world, LIMITS.passwordGuessesPerAccountAndAddress);
  const write = spyOn(world.db, "write");
  for (let i = 0; i < 10; i += 1) expect(await signIn(world)).toBe(TOO_MANY);
  expect(write).toHaveBeenCalledTimes(0);
});

test("a caller has a limited number of wrong passwords for an account, whether it exists or not and in any spelling", async () => {
  await using world = await createAccessWorld();
  for (const [email, address] of [
    ["ada@example.com", null],
    ["nobody@example.com", "192.0.2.3"],
  ] as const) {
    await fail(world, LIMITS.passwordGuessesPerAccountAndAddress - 1, { email, address });
    await fail(world, 1, { email: ` ${email.toUpperCase()}`, address });
    expect(await signIn(world, { email, address })).toBe(TOO_MANY);
  }
  world.clock.advance(LIMITS.windowSeconds * SECOND_MS);
  expect(await signIn(world)).toBe("in");
});

test.each(["192.0.2.1", null])(
  "an address (%p) has a limited number of wrong passwords for all accounts together",
  async (address) => {
    await using world = await createAccessWorld();
    const tries = Array.from({ length: LIMITS.passwordGuessesPerAddress }, (_, i) => `user${i}@example.com`);
    for (const email of tries) await fail(world, 1, { email, address });
    expect(await signIn(world, { address })).toBe(TOO_MANY);
    expect(await signIn(world, { address: "192.0.2.2" })).toBe("in");
  },
);

test("simultaneous guesses cannot pass together", async () => {
  await using world = await createAccessWorld();
  const attempts = Array.from({ length: 20 }, () => signIn(world, { password: "wrong", address: null }));
  const outcomes = await Promise.all(attempts);
  const failed = outcomes.filter((outcome) => outcome === FAILED);
  expect(failed).toHaveLength(LIMITS.passwordGuessesPerAccountAndAddress);
});

test("a success clears the caller's guesses at the account, but not the address's", async () => {
  await using world = await createAccessWorld();
  await fail(world, LIMITS.passwordGuessesPerAccountAndAddress - 1);
  expect(await signIn(world)).toBe("in");
  await fail(world, LIMITS.passwordGuessesPerAccountAndAddress - 1);
  expect(await signIn(world)).toBe("in");
  // Four wrong passwords so far; the right ones in between are not counted.
  await fail(world, 1);
  expect(await signIn(world)).toBe(TOO_MANY);
});

test("only the protected administrator may sign in with a password if there is an identity provider", async () => {
  await using world = await createAccessWorld({ identityMode: "oidc" });
  expect(await signIn(world)).toBe("forbidden access.password_sign_in_off");
  expect(await signIn(world, { password: "wrong" })).toBe(FAILED);
  const admin = { email: "root@example.com", password: "another long password" };
  await world.identity.bootstrap.run({
    organizationName: "Test",
    adminEmail: admin.email,
    adminPassword: new Secret(admin.password),
    generatePassword: false,
  });
  expect(await signIn(world, admin)).toBe("in");
});

test("neither the token nor the password is stored, and a success is in the audit log", async () => {
  await using world = await createAccessWorld();
  const { session } = await world.sessions.signIn({ ...request(), requestId: "request-1" });
  await signIn(world, { password: "wrong guess" });
  expect(isAtRest(world.file, session.id)).toBe(true);
  for (const secret of [session.token, PASSWORD, "wrong guess"])
    expect(isAtRest(world.file, secret)).toBe(false);
  const entries = world.db.read.select().from(auditEntries).all();
  expect(entries.filter(({ action }) => action === "login_session.open")).toMatchObject([
    { target: session.id, actorId: world.user.id, address: "192.0.2.1", requestId: "request-1" },
  ]);
});

const ISSUER = "https://id.example.org/";
const HOW = {
  "a password": undefined,
  "the provider": { method: "oidc", issuer: ISSUER, providerSessionId: null, authTimeMs: null, acr: null },
} as const;

test.each([
  ["password", "a password", { method: "password" }],
  ["password", "the provider", { method: "oidc", issuer: ISSUER }],
  ["oidc", "a password", { method: "password", is_recovery: true }],
  ["oidc", "the provider", { method: "oidc", issuer: ISSUER }],
] as const)("identity mode %s records a session by %s as %j", async (identityMode, by, after) => {
  await using world = await createAccessWorld({ identityMode });
  const entered = { actor: world.system, origin: { address: null, userAgent: null }, how: HOW[by] };
  await world.db.write((tx) => void world.sessions.enter(tx, world.user, entered));
  const isOpened = eq(auditEntries.action, "login_session.open");
  const opened = world.db.read.select().from(auditEntries).where(isOpened).get();
  expect(JSON.parse(opened?.after ?? "")).toEqual(after);
});

test("signing out ends the session immediately and keeps the grants that it approved", async () => {
  await using world = await createAccessWorld();
  const grant = await addGrant(world);
  const { session } = await world.sessions.signIn(request());
  const actor = { ...world.system, kind: "user" as const, id: world.user.id };
  await world.sessions.end(session.token, actor);
  await world.sessions.end(session.token, actor);
  expect(world.sessions.find(session.token)).toBeUndefined();
  expect((await world.authenticator.bearer(mintToken(world, grant))).grantId).toBe(grant.id);
  const entries = world.db.read.select().from(auditEntries).all();
  expect(entries.filter(({ action }) => action === "login_session.end")).toHaveLength(1);
});

test("signing out of an expired session records nothing", async () => {
  await using world = await createAccessWorld();
  const { session } = await world.sessions.signIn(request());
  world.clock.advance(session.expiresAtMs - world.clock.nowMs());
  await world.sessions.end(session.token, world.system);
  const entries = world.db.read.select().from(auditEntries).all();
  expect(entries.filter(({ action }) => action === "login_session.end")).toEqual([]);
});

test("the log identifies a user by id, and an unknown address by a hash", async () => {
  await using world = await createAccessWorld();
  expect(world.sessions.nameForLog(" ADA@example.com")).toEqual({ userId: world.user.id });
  const names = ["one@example.com", "two@example.com"].map((email) => world.sessions.nameForLog(email));
  expect(names).toEqual(Array(2).fill({ hash: expect.stringMatching(/^[\w-]{16}$/) }));
  expect(names[0]).not.toEqual(names[1]);
});

test("signing in again ends the session of the same browser, unless it has ended", async () => {
  await using world = await createAccessWorld();
  const { session: former } = await world.sessions.signIn(request());
  const endedIds = () =>
    world.db.read
      .select()
      .from(auditEntries)
      .where(eq(auditEntries.action, "login_session.end"))
      .all()
      .map(({ target }) => target);
  for (let again = 0; again < 2; again += 1) {
    await world.sessions.signIn(request({ sessionToken: former.token }));
    expect(world.sessions.find(former.token)).toBeUndefined();
    expect(endedIds()).toHaveLength(1);
  }
});

test("a long user agent is truncated", async () => {
  await using world = await createAccessWorld();
  for (const length of [-1, 0, 1].map((more) => USER_AGENT_LENGTH_MAX + more)) {
    const kept = Math.min(length, USER_AGENT_LENGTH_MAX);
    const { session } = await world.sessions.signIn(request({ userAgent: "x".repeat(length) }));
    expect(world.sessions.find(session.token)?.userAgent).toHaveLength(kept);
  }
});

test("sweeping removes sessions that ended a day ago and that nothing refers to", async () => {
  await using world = await createAccessWorld();
  const [granted, requested] = [await addGrant(world), await addGrant(world)];
  await world.sessions.signIn(request());
  await world.db.write((tx) => {
    tx.delete(deviceLogins).where(eq(deviceLogins.loginSessionId, granted.sid)).run();
    tx.delete(grants).where(eq(grants.id, requested.id)).run();
  });
  const sweep = () => world.db.write((tx) => world.sessions.sweep(tx), "access");
  world.clock.advance(12 * HOUR_MS + ENDED_LOGIN_KEPT_MS - 1);
  expect(await sweep()).toBe(0);
  world.clock.advance(1);
  expect(await sweep()).toBe(1);
  const left = world.db.read.select({ id: loginSessions.id }).from(loginSessions).all();
  expect(left.map(({ id }) => id).sort()).toEqual([granted.sid, requested.sid].sort());
});
