// The second step of a password sign-in: which proofs are accepted, how often, and for which user.
import { expect, test } from "bun:test";
import { endEverything } from "../../../../src/domain/access/logins/end-logins.ts";
import { ATTEMPT_TTL_MS, ATTEMPTS_PER_USER_MAX } from "../../../../src/domain/access/second-factor/model.ts";
import { loginSessions, signInAttempts } from "../../../../src/domain/access/tables.ts";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { MINUTE_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { appCode } from "../../../support/second-factor/authenticator-app.ts";
import {
  createAuthenticator,
  FLAGS,
  type Lie,
} from "../../../support/second-factor/software-authenticator.ts";
import { type AccessWorld, BASE_URL, LIMITS, PASSWORD } from "../access-world.ts";
import { isAtRest } from "../at-rest.ts";
import {
  addApp,
  addPasskey,
  attemptOf,
  codeNow,
  createFactorWorld,
  ORIGIN,
  outcomeOf,
  requestOf,
  sessionOf,
} from "./factor-world.ts";

const WRONG = "access.second_factor_wrong";
const OVER = "access.sign_in_expired";
const STEP_MS = 30 * SECOND_MS;

const prove = (world: AccessWorld, ...[attempt, proof]: Parameters<AccessWorld["factorSignIns"]["prove"]>) =>
  outcomeOf(world.factorSignIns.prove(attempt, proof));

const sessionsIn = (world: AccessWorld): number => world.db.read.select().from(loginSessions).all().length;

test("the shared secret and codes of RFC 6238 appendix B give the codes of the RFC", () => {
  const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  expect([59, 1_111_111_109, 20_000_000_000].map((at) => appCode(secret, at * SECOND_MS))).toEqual([
    "287082",
    "081804",
    "353130",
  ]);
});

test("a user without a factor signs in with only the password", async () => {
  await using world = await createFactorWorld();
  const { session } = await world.sessions.signIn({
    ...ORIGIN,
    email: world.user.email,
    password: new Secret(PASSWORD),
  });
  expect(world.sessions.find(session.token)?.confirmedAtMs).toBe(world.clock.nowMs());
});

test("a user with a factor gets no session until the code after the password is right", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  const before = sessionsIn(world);
  const attempt = await attemptOf(world);
  expect(sessionsIn(world)).toBe(before);
  expect(world.sessions.find(attempt.token.reveal())).toBeUndefined();
  world.clock.advance(STEP_MS);
  const signedIn = await world.factorSignIns.prove(attempt, codeNow(world, app));
  expect(signedIn).toMatchObject({ factor: "authenticator_app", user: { id: world.user.id } });
  expect(world.authenticator.session(signedIn.session.token)).toMatchObject({ userId: world.user.id });
  const opened = world.db.read.select().from(auditEntries).all().at(-1);
  expect(opened?.action).toBe("login_session.open");
  expect(opened?.after).toBe('{"method":"password","second_factor":"authenticator_app"}');
  expect(await prove(world, attempt, codeNow(world, app))).toBe(OVER);
});

test.each([-2, -1, 0, 1, 2])("a code %d steps away counts if it is at most one step off", async (steps) => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  const attempt = await attemptOf(world);
  world.clock.advance(4 * STEP_MS);
  const code = new Secret(appCode(app.secret, world.clock.nowMs() + steps * STEP_MS));
  expect(await prove(world, attempt, { code })).toBe(Math.abs(steps) <= 1 ? "done" : WRONG);
});

test("a code counts once, including the code that set up the app, and earlier codes no longer count", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  expect(await prove(world, await attemptOf(world), codeNow(world, app))).toBe(WRONG);
  world.clock.advance(STEP_MS);
  const now = codeNow(world, app);
  const next = { code: new Secret(appCode(app.secret, world.clock.nowMs() + STEP_MS)) };
  expect(await prove(world, await attemptOf(world), next)).toBe("done");
  expect(await prove(world, await attemptOf(world), next)).toBe(WRONG);
  expect(await prove(world, await attemptOf(world), now)).toBe(WRONG);
});

test("two simultaneous requests with the same code open one session", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  world.clock.advance(STEP_MS);
  const attempts = [await attemptOf(world), await attemptOf(world)];
  const outcomes = await Promise.all(attempts.map((attempt) => prove(world, attempt, codeNow(world, app))));
  expect(outcomes.sort()).toEqual([WRONG, "done"]);
});

test("a recovery code counts once, in any spelling", async () => {
  await using world = await createFactorWorld();
  const { recoveryCodes } = await addApp(world);
  const [first = ""] = recoveryCodes;
  const code = new Secret(` ${first.toLowerCase().replaceAll("-", " ")}`);
  const signedIn = await world.factorSignIns.prove(await attemptOf(world), { code });
  expect(signedIn.factor).toBe("recovery_code");
  expect(await prove(world, await attemptOf(world), { code })).toBe(WRONG);
  expect(recoveryCodes).toHaveLength(10);
  expect(isAtRest(world.file, first.replaceAll("-", ""))).toBe(false);
});

test("the secret of an app is stored sealed", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  expect(isAtRest(world.file, app.secret)).toBe(false);
});

test("codes of another user are not accepted", async () => {
  await using world = await createFactorWorld();
  const { user: other } = await world.identity.users.create(world.system, {
    email: "bob@example.com",
    role: "member",
    password: new Secret(PASSWORD),
  });
  await addApp(world);
  const others = await addApp(world, other);
  world.clock.advance(STEP_MS);
  const attempt = await attemptOf(world);
  expect(await prove(world, attempt, codeNow(world, others))).toBe(WRONG);
  expect(await prove(world, attempt, { code: new Secret(others.recoveryCodes[0] ?? "") })).toBe(WRONG);
});

test("wrong codes are limited for the account, in every attempt together", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  world.clock.advance(STEP_MS);
  const wrong = { code: new Secret("AAAA-AAAA-AAAA-AAAA") };
  for (let i = 0; i < LIMITS.secondFactorGuesses; i += 1)
    expect(await prove(world, await attemptOf(world), wrong)).toBe(WRONG);
  expect(await prove(world, await attemptOf(world), codeNow(world, app))).toBe("access.too_many_attempts");
  world.clock.advance(LIMITS.windowSeconds * SECOND_MS);
  expect(await prove(world, await attemptOf(world), codeNow(world, app))).toBe("done");
});

test("unlocking a user also clears the wrong codes", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  world.clock.advance(STEP_MS);
  const attempt = await attemptOf(world);
  for (let i = 0; i < LIMITS.secondFactorGuesses; i += 1)
    expect(await prove(world, attempt, { code: new Secret("000000") })).toBe(WRONG);
  expect(await prove(world, attempt, codeNow(world, app))).toBe("access.too_many_attempts");
  expect(await world.identity.users.unlock(world.system, world.user.id)).toBe(true);
  expect(await prove(world, attempt, codeNow(world, app))).toBe("done");
});

test("wrong codes from elsewhere do not lock out a browser that has signed in before", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  world.clock.advance(STEP_MS);
  const { deviceCookie } = await world.factorSignIns.prove(await attemptOf(world), codeNow(world, app));
  for (let i = 0; i < LIMITS.secondFactorGuesses; i += 1)
    expect(await prove(world, await attemptOf(world), { code: new Secret("000000") })).toBe(WRONG);
  world.clock.advance(STEP_MS);
  const attempt = await attemptOf(world);
  expect(await prove(world, attempt, codeNow(world, app))).toBe("access.too_many_attempts");
  expect(await prove(world, { ...attempt, deviceCookie }, codeNow(world, app))).toBe("done");
});

test.each<[string, (world: AccessWorld) => Promise<unknown>]>([
  ["is suspended", ({ identity, system, user }) => identity.users.setStatus(system, user.id, "suspended")],
  ["is removed", ({ identity, system, user }) => identity.users.remove(system, user.id)],
  ["gets a new password", ({ identity, system, user }) => identity.users.resetPassword(system, user.id)],
  ["is signed out everywhere", ({ identity, system, user }) => identity.users.revokeLogins(system, user.id)],
])("a user who %s between password and code gets no session", async (_name, change) => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  const attempt = await attemptOf(world);
  world.clock.advance(STEP_MS);
  await change(world);
  const before = sessionsIn(world);
  expect(world.factorSignIns.find(attempt.token)).toBeUndefined();
  expect(await prove(world, attempt, codeNow(world, app))).toBe(OVER);
  expect(sessionsIn(world)).toBe(before);
});

test("an attempt ends with every login, although its user has no session yet", async () => {
  await using world = await createFactorWorld();
  await addApp(world);
  const { token } = await attemptOf(world);
  await endEverything(world.db, { reason: "test", nowMs: world.clock.nowMs() });
  expect(world.factorSignIns.find(token)).toBeUndefined();
});

test("an attempt ends after ten minutes, and the oldest of many ends earlier", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  const first = await attemptOf(world);
  for (let i = 0; i < ATTEMPTS_PER_USER_MAX; i += 1) {
    world.clock.advance(1);
    await attemptOf(world);
  }
  expect(world.factorSignIns.find(first.token)).toBeUndefined();
  expect(world.db.read.select().from(signInAttempts).all()).toHaveLength(ATTEMPTS_PER_USER_MAX);
  const last = await attemptOf(world);
  world.clock.advance(ATTEMPT_TTL_MS - 1);
  expect(world.factorSignIns.find(last.token)).toBeDefined();
  world.clock.advance(1);
  expect(await prove(world, last, codeNow(world, app))).toBe(OVER);
});

test("a passkey signs in and its response counts once", async () => {
  await using world = await createFactorWorld();
  const passkey = await addPasskey(world);
  const attempt = await attemptOf(world);
  const response = passkey.get(await requestOf(world, attempt));
  expect(await world.factorSignIns.prove(attempt, { passkey: response })).toMatchObject({
    factor: "passkey",
  });
  expect(await prove(world, attempt, { passkey: response })).toBe(OVER);
  expect(await prove(world, await attemptOf(world), { passkey: response })).toBe(WRONG);
});

test.each<[string, Lie]>([
  ["of another origin", { origin: "https://control.example.com.evil.example" }],
  ["of another relying party", { rpId: "evil.example" }],
  ["to a challenge that was never issued", { challenge: "AAAA" }],
  ["without user verification", { flags: FLAGS.present }],
  ["without user presence", { flags: FLAGS.verified }],
])("a passkey response %s is refused", async (_name, lie) => {
  await using world = await createFactorWorld();
  const passkey = await addPasskey(world);
  const attempt = await attemptOf(world);
  const response = passkey.get(await requestOf(world, attempt), lie);
  expect(await prove(world, attempt, { passkey: response })).toBe(WRONG);
});

test("a passkey whose counter does not grow is refused as a copy", async () => {
  await using world = await createFactorWorld();
  const passkey = await addPasskey(world);
  const first = await attemptOf(world);
  const grown = passkey.get(await requestOf(world, first), { counter: 7 });
  expect(await prove(world, first, { passkey: grown })).toBe("done");
  const second = await attemptOf(world);
  const copied = passkey.get(await requestOf(world, second), { counter: 7 });
  expect(await prove(world, second, { passkey: copied })).toBe(WRONG);
});

test("a response to a challenge that is expired, or of another sign-in or purpose, is refused", async () => {
  await using world = await createFactorWorld();
  const passkey = await addPasskey(world);
  const [one, other] = [await attemptOf(world), await attemptOf(world)];
  const response = passkey.get(await requestOf(world, one));
  expect(await prove(world, other, { passkey: response })).toBe(WRONG);
  const creation = await world.ownFactors.startPasskey(await sessionOf(world));
  expect(
    await prove(world, one, { passkey: passkey.get({ ...creation, rpId: "control.example.com" }) }),
  ).toBe(WRONG);
  const options = await requestOf(world, one);
  world.clock.advance(5 * MINUTE_MS);
  const late = await attemptOf(world);
  world.clock.advance(5 * MINUTE_MS);
  expect(await prove(world, late, { passkey: passkey.get(options) })).toBe(WRONG);
});

test.each(["", "{", "null", "[]", '{"id":1}', "x".repeat(20_000)])(
  "text that is not a passkey response counts as a wrong one: %p",
  async (response) => {
    await using world = await createFactorWorld();
    await addPasskey(world);
    expect(await prove(world, await attemptOf(world), { passkey: response })).toBe(WRONG);
  },
);

test("a passkey of another user is refused", async () => {
  await using world = await createFactorWorld();
  await addPasskey(world);
  const attempt = await attemptOf(world);
  const stranger = createAuthenticator(BASE_URL);
  const response = stranger.get(await requestOf(world, attempt));
  expect(await prove(world, attempt, { passkey: response })).toBe(WRONG);
});

test("a code that is sent with the password signs in immediately; a wrong or missing one does not", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  world.clock.advance(STEP_MS);
  const signIn = (code?: Secret) =>
    outcomeOf(
      world.sessions.signIn({ ...ORIGIN, email: world.user.email, password: new Secret(PASSWORD), code }),
    );
  expect(await signIn()).toBe("access.second_factor_needed");
  expect(await signIn(new Secret("000000"))).toBe(WRONG);
  expect(await signIn(codeNow(world, app).code)).toBe("done");
});

test.each([
  ["off", "admin", "done"],
  ["optional", "admin", "done"],
  ["administrators", "admin", "access.second_factor_enrollment_needed"],
  ["administrators", "member", "done"],
  ["everyone", "member", "access.second_factor_enrollment_needed"],
] as const)("a sign-in under %s by an %s without a factor: %s", async (secondFactor, role, expected) => {
  await using world = await createFactorWorld({ secondFactor });
  const { user } = await world.identity.users.create(world.system, {
    email: "eve@example.com",
    role,
    password: new Secret(PASSWORD),
  });
  const credential = { email: user.email, password: new Secret(PASSWORD) };
  expect(await outcomeOf(world.sessions.signIn({ ...ORIGIN, ...credential }))).toBe(expected);
});

test("requires no factor with second_factor off", async () => {
  await using world = await createFactorWorld();
  await addApp(world);
  world.settings.secondFactor = "off";
  const credential = { email: world.user.email, password: new Secret(PASSWORD) };
  expect(await outcomeOf(world.sessions.signIn({ ...ORIGIN, ...credential }))).toBe("done");
});

test("a user who must have a factor gets the session with the first one, and cannot skip the proof later", async () => {
  await using world = await createFactorWorld({ secondFactor: "everyone" });
  const attempt = await attemptOf(world);
  expect(await prove(world, attempt, { code: new Secret("000000") })).toBe(OVER);
  const { secret, sealed } = world.factorSignIns.startApp(attempt);
  const code = new Secret(appCode(secret.reveal(), world.clock.nowMs()));
  const other = await attemptOf(world);
  const stolen = await outcomeOf(world.factorSignIns.addApp(other, { sealed, code }));
  expect(stolen).toBe("second_factor.setup_expired");
  const wrong = await outcomeOf(world.factorSignIns.addApp(attempt, { sealed, code: new Secret("000000") }));
  expect(wrong).toBe("second_factor.code_wrong");
  const signedIn = await world.factorSignIns.addApp(attempt, { sealed, code });
  expect(signedIn.recoveryCodes).toHaveLength(10);
  expect(world.sessions.find(signedIn.session.token)?.confirmedAtMs).toBe(world.clock.nowMs());
  expect(await outcomeOf(world.factorSignIns.addApp(other, { sealed, code }))).toBe(OVER);
});

test("the first factor may be a passkey", async () => {
  await using world = await createFactorWorld({ secondFactor: "everyone" });
  const attempt = await attemptOf(world);
  const response = createAuthenticator(BASE_URL).create(await world.factorSignIns.startPasskey(attempt));
  const signedIn = await world.factorSignIns.addPasskey(attempt, { answer: response, name: "" });
  expect(world.factors.view(world.db.read, world.user).passkeys).toMatchObject([{ name: "Passkey" }]);
  expect(signedIn.kind).toBe("passkey");
});
