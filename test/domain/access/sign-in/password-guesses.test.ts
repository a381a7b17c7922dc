// Wrong passwords: they never lock an account for everyone, and a browser that has signed in before has its own counter.
import { expect, test } from "bun:test";
import { LoginSessions } from "../../../../src/domain/access/sign-in/login-sessions.ts";
import { forgetGuesses } from "../../../../src/domain/access/sign-in/password-guesses.ts";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { MINUTE_MS } from "../../../../src/platform/clock.ts";
import type { HashRequester } from "../../../../src/platform/crypto/passwords.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { type AccessWorld, createAccessWorld, LIMITS, PASSWORD } from "../access-world.ts";

const FAILED = "access.sign_in_failed";
const TOO_MANY = "access.too_many_attempts";
const EMAIL = "ada@example.com";
const { passwordGuessesPerAccountAndAddress: PER_CALLER, passwordGuessesPerAccount: PER_ACCOUNT } = LIMITS;

interface Attempt {
  email?: string;
  password?: string;
  /** last part of the address */
  from?: number;
  deviceCookie?: string;
}

const attempt = (world: AccessWorld, { email = EMAIL, from = 1, ...sent }: Attempt) =>
  world.sessions.signIn({
    email,
    address: `192.0.2.${from}`,
    userAgent: null,
    deviceCookie: sent.deviceCookie,
    password: new Secret(sent.password ?? PASSWORD),
  });

/** @returns `in`, or the reason of the refusal */
const signIn = (world: AccessWorld, sent: Attempt = {}): Promise<string> =>
  attempt(world, sent).then(
    () => "in",
    (error: unknown) => (error instanceof DomainError ? error.reason : String(error)),
  );

const fail = async (world: AccessWorld, times: number, sent: Attempt = {}): Promise<void> => {
  for (let left = times; left > 0; left -= 1)
    expect(await signIn(world, { ...sent, password: "wrong" })).toBe(FAILED);
};

/** Uses up the limit of the account, from as many addresses as necessary. */
const lockAccount = async (world: AccessWorld): Promise<void> => {
  for (let used = 0, from = 100; used < PER_ACCOUNT; used += PER_CALLER, from += 1)
    await fail(world, Math.min(PER_CALLER, PER_ACCOUNT - used), { from });
};

const deviceCookieOf = async (world: AccessWorld, sent: Attempt = {}): Promise<string> =>
  (await attempt(world, sent)).deviceCookie;

test("wrong passwords from one address lock the account for that address and for no other", async () => {
  await using world = await createAccessWorld();
  await fail(world, PER_CALLER, { from: 9 });
  expect(await signIn(world, { from: 9 })).toBe(TOO_MANY);
  expect(await signIn(world, { from: 1 })).toBe("in");
});

test("an account has a limited number of wrong passwords from all addresses together", async () => {
  await using world = await createAccessWorld();
  await lockAccount(world);
  expect(await signIn(world)).toBe(TOO_MANY);
  expect(await signIn(world, { email: "eve@example.com" })).toBe(FAILED);
});

test("the right password works below the account's limit by one", async () => {
  await using world = await createAccessWorld();
  await fail(world, PER_CALLER, { from: 100 });
  await fail(world, PER_CALLER, { from: 101 });
  expect(await signIn(world)).toBe("in");
  // The success returned only its own attempt.
  await fail(world, 1);
  expect(await signIn(world)).toBe(TOO_MANY);
});

test("an unknown account has the same limits", async () => {
  await using world = await createAccessWorld();
  const email = "nobody@example.com";
  for (const from of [100, 101]) await fail(world, PER_CALLER, { email, from });
  await fail(world, 1, { email, from: 102 });
  expect(await signIn(world, { email, from: 103 })).toBe(TOO_MANY);
});

test("the refusal names the minutes to wait", async () => {
  await using world = await createAccessWorld();
  await fail(world, PER_CALLER);
  const refusal = () => attempt(world, {}).catch((error: unknown) => error);
  expect(await refusal()).toMatchObject({
    message: "too many attempts; try again in 15 minutes",
    retryAfterSeconds: 900,
  });
  world.clock.advance(14 * MINUTE_MS);
  expect(await refusal()).toMatchObject({ message: "too many attempts; try again in 1 minute" });
});

test("a browser that has signed in before is not stopped by the limit of the account", async () => {
  await using world = await createAccessWorld();
  const deviceCookie = await deviceCookieOf(world);
  await lockAccount(world);
  expect(await signIn(world, { deviceCookie })).toBe("in");
  expect(await signIn(world)).toBe(TOO_MANY);
});

test("a known browser has its own limit, which a right password resets", async () => {
  await using world = await createAccessWorld();
  const [one, other] = [await deviceCookieOf(world), await deviceCookieOf(world)];
  await fail(world, PER_CALLER - 1, { deviceCookie: one });
  expect(await signIn(world, { deviceCookie: one })).toBe("in");
  await fail(world, PER_CALLER, { deviceCookie: one, from: 2 });
  expect(await signIn(world, { deviceCookie: one, from: 2 })).toBe(TOO_MANY);
  expect(await signIn(world, { deviceCookie: other, from: 2 })).toBe("in");
});

test("a known browser still counts for its address", async () => {
  await using world = await createAccessWorld();
  const cookies = [await deviceCookieOf(world), await deviceCookieOf(world)];
  for (const deviceCookie of cookies) await fail(world, PER_CALLER - 1, { deviceCookie });
  await fail(world, LIMITS.passwordGuessesPerAddress - 2 * (PER_CALLER - 1), { email: "eve@example.com" });
  expect(await signIn(world, { deviceCookie: cookies[0] ?? "" })).toBe(TOO_MANY);
});

test.each<[string, (world: AccessWorld) => Promise<string>]>([
  ["made up", async () => `${"A".repeat(22)}.${"A".repeat(43)}`],
  ["with another number", async (world) => `${"A".repeat(22)}${(await deviceCookieOf(world)).slice(22)}`],
  ["no device cookie at all", async () => "x".repeat(5_000)],
  [
    "of another account",
    async (world) => {
      const password = "another long password";
      await world.identity.users.create(world.system, {
        email: "eve@example.com",
        role: "member",
        password: new Secret(password),
      });
      return deviceCookieOf(world, { email: "eve@example.com", password });
    },
  ],
  [
    "from before the password was reset",
    async (world) => {
      const cookie = await deviceCookieOf(world);
      await world.identity.users.resetPassword(world.system, world.user.id, new Secret(PASSWORD));
      return cookie;
    },
  ],
])("a device cookie that is %s changes nothing", async (_name, make) => {
  await using world = await createAccessWorld();
  const deviceCookie = await make(world);
  await lockAccount(world);
  expect(await signIn(world, { deviceCookie })).toBe(TOO_MANY);
});

test("a new password clears earlier wrong ones", async () => {
  await using world = await createAccessWorld();
  await lockAccount(world);
  await world.identity.users.resetPassword(world.system, world.user.id, new Secret("another long password"));
  expect(await signIn(world, { from: 100, password: "another long password" })).toBe("in");
});

test("unlocking clears the wrong passwords of every address and browser, of this account only", async () => {
  await using world = await createAccessWorld();
  const deviceCookie = await deviceCookieOf(world);
  await fail(world, PER_CALLER, { deviceCookie, from: 50 });
  await lockAccount(world);
  await fail(world, PER_CALLER, { email: "eve@example.com", from: 51 });
  const { users } = world.identity;
  expect(await users.unlock(world.system, world.user.id)).toBe(true);
  expect(await signIn(world, { from: 100 })).toBe("in");
  expect(await signIn(world, { deviceCookie })).toBe("in");
  expect(await signIn(world, { email: "eve@example.com", from: 51 })).toBe(TOO_MANY);
  const actions = world.db.read.select().from(auditEntries).all();
  expect(actions.filter(({ action }) => action === "user.unlock")).toMatchObject([{ target: world.user.id }]);
});

test("unlocking an account whose window has ended changes nothing and is not recorded", async () => {
  await using world = await createAccessWorld();
  const { users } = world.identity;
  expect(await users.unlock(world.system, world.user.id)).toBe(false);
  await fail(world, 1);
  world.clock.advance(15 * MINUTE_MS);
  expect(await users.unlock(world.system, world.user.id)).toBe(false);
  const actions = world.db.read.select().from(auditEntries).all();
  expect(actions.filter(({ action }) => action === "user.unlock")).toEqual([]);
});

test("a flood of guesses at one account stays within its limit and refuses no other account", async () => {
  await using world = await createAccessWorld();
  for (const email of [EMAIL, "nobody@example.com"]) {
    const guesses = Array.from({ length: 20 }, (_, at) =>
      signIn(world, { email, from: 100 + at, password: "wrong" }),
    );
    const other = signIn(world, { email: "eve@example.com", from: 1 });
    const checked = (await Promise.all(guesses)).filter((outcome) => outcome === FAILED);
    expect(checked.length).toBeGreaterThan(0);
    expect(checked.length).toBeLessThanOrEqual(PER_ACCOUNT);
    expect(await other).toBe(FAILED); // the account does not exist; a refusal by the limit would have another reason
    await world.db.write((tx) => void forgetGuesses(tx, { email, nowMs: world.clock.nowMs() }), "access");
  }
});

test("a browser that has signed in to the account before counts as known", async () => {
  await using world = await createAccessWorld();
  const deviceCookie = await deviceCookieOf(world);
  const askers: (HashRequester | undefined)[] = [];
  const isPasswordOf: AccessWorld["identity"]["isPasswordOf"] = async (user, password, asker) => {
    askers.push(asker);
    return await world.identity.isPasswordOf(user, password, asker);
  };
  const identity = { ...world.identity, isPasswordOf };
  const watched = { ...world, sessions: new LoginSessions({ ...world, identity, limits: LIMITS }) };
  await signIn(watched, { deviceCookie });
  await signIn(watched, {});
  await signIn(watched, { email: "nobody@example.com", deviceCookie });
  expect(askers).toEqual([
    { account: EMAIL, address: "192.0.2.1", network: "192.0.2.0/24", isKnown: true },
    { account: EMAIL, address: "192.0.2.1", network: "192.0.2.0/24", isKnown: false },
    { account: "nobody@example.com", address: "192.0.2.1", network: "192.0.2.0/24", isKnown: false },
  ]);
});
