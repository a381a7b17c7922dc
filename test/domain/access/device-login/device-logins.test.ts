// Device logins up to the decision: the order of checks, what unauthenticated callers can use up, and who may decide.
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { DeviceLogins } from "../../../../src/domain/access/device-login/device-logins.ts";
import * as rows from "../../../../src/domain/access/device-login/device-logins-store.ts";
import {
  DEVICE_LOGINS_PENDING_MAX,
  USER_CODE_DRAWS_MAX,
  userCodeOf,
} from "../../../../src/domain/access/model.ts";
import { deviceLogins } from "../../../../src/domain/access/tables.ts";
import { SCOPE_LENGTH_MAX } from "../../../../src/domain/access/tokens/scopes.ts";
import { OAUTH_CLIENT_ID, REQUESTABLE_SCOPES, USER_SCOPES } from "../../../../src/domain/access/wire.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { systemIds } from "../../../../src/platform/ids.ts";
import { listenToStatements } from "../../scim/search/statement-log.ts";
import { BASE_URL } from "../access-world.ts";
import { isAtRest } from "../at-rest.ts";
import {
  ADDRESS,
  addUser,
  afterSeconds,
  audited,
  createLoginWorld,
  decide,
  type LoginWorld,
  refusalOf,
  requestLogin,
  signIn,
} from "../login-world.ts";

const onlyRow = (world: LoginWorld) => world.db.read.select().from(deviceLogins).get();

test("names each mistake of a request in a fixed order", async () => {
  await using world = await createLoginWorld();
  const wrong = {
    clientId: "other",
    resource: "https://elsewhere.example.com",
    scope: "root",
    address: ADDRESS,
  };
  const refusal = (fixed: object) => refusalOf(world.deviceLogins.request({ ...wrong, ...fixed }));
  expect(await refusal({ clientId: undefined })).toBe("invalid_request");
  expect(await refusal({ clientId: "" })).toBe("invalid_request");
  expect(await refusal({})).toBe("invalid_client");
  expect(await refusal({ clientId: OAUTH_CLIENT_ID })).toBe("invalid_target");
  expect(await refusal({ clientId: OAUTH_CLIENT_ID, resource: BASE_URL })).toBe("invalid_scope");
  expect(await refusal({ clientId: OAUTH_CLIENT_ID, resource: BASE_URL, scope: "session:write" })).toBe(
    "fine",
  );
});

test("a request without scope and resource requests everything here", async () => {
  await using world = await createLoginWorld();
  const login = await requestLogin(world);
  expect(onlyRow(world)).toMatchObject({
    scope: REQUESTABLE_SCOPES.join(" "),
    resource: BASE_URL,
    state: "pending",
  });
  expect(login).toMatchObject({
    expiresInSeconds: 600,
    intervalSeconds: 5,
    userCode: userCodeOf(login.linkToken),
  });
  expect(login.deviceCode).toMatch(/^[0-9a-f-]{36}\.[A-Za-z0-9_-]{43}$/);
  expect(login.linkToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test.each([
  ["openid", "invalid_scope"],
  ["governance:read root", "invalid_scope"],
  ["Governance:read", "invalid_scope"],
  ["  governance:read   governance:read ", "fine"],
  [" ", "fine"],
])("the scope %p becomes %p", async (scope, outcome) => {
  await using world = await createLoginWorld();
  expect(await refusalOf(requestLogin(world, { scope }))).toBe(outcome);
});

test("a scope that grants nothing is refused with a list of valid scopes", async () => {
  await using world = await createLoginWorld();
  const asking = requestLogin(world, { scope: "openid offline_access" });
  await expect(asking).rejects.toThrow(`ask for at least one of: ${USER_SCOPES.join(" ")}`);
});

test("a scope may have SCOPE_LENGTH_MAX characters and no more", async () => {
  await using world = await createLoginWorld();
  const scope = (length: number) => "session:write".padEnd(length);
  expect(await refusalOf(requestLogin(world, { scope: scope(SCOPE_LENGTH_MAX - 1) }))).toBe("fine");
  expect(await refusalOf(requestLogin(world, { scope: scope(SCOPE_LENGTH_MAX) }))).toBe("fine");
  expect(await refusalOf(requestLogin(world, { scope: scope(SCOPE_LENGTH_MAX + 1) }))).toBe("invalid_scope");
});

test.each(["192.0.2.7", null])(
  "an address (%p) gets its budget of codes in a window, other addresses keep theirs",
  async (address) => {
    await using world = await createLoginWorld({ limits: { deviceCodesPerAddress: 2 } });
    const outcomes = [];
    for (let index = 0; index < 3; index += 1)
      outcomes.push(await refusalOf(requestLogin(world, { address })));
    expect(outcomes).toEqual(["fine", "fine", "access.too_many_attempts"]);
    expect(await refusalOf(requestLogin(world, { address: "192.0.2.8" }))).toBe("fine");
    afterSeconds(world, world.limits.windowSeconds);
    expect(await refusalOf(requestLogin(world, { address }))).toBe("fine");
  },
);

test("a refused request uses no budget", async () => {
  await using world = await createLoginWorld({ limits: { deviceCodesPerAddress: 1 } });
  expect(await refusalOf(requestLogin(world, { scope: "root" }))).toBe("invalid_scope");
  expect(await refusalOf(requestLogin(world))).toBe("fine");
});

const MANY: Partial<LoginWorld["limits"]> = { deviceCodesPerAddress: 1e6 };

/** @returns the result of a request below, at and above the limit of a caller that has `count - 2` logins already */
async function outcomesAround(world: LoginWorld, limit: number, addressOf: (index: number) => string | null) {
  for (let index = 0; index < limit - 2; index += 1) await requestLogin(world, { address: addressOf(index) });
  const outcomes = [];
  for (let index = limit - 2; index <= limit; index += 1)
    outcomes.push(await refusalOf(requestLogin(world, { address: addressOf(index) })));
  return outcomes;
}
const AROUND = ["fine", "fine", "device_login.too_many_pending"];

test.each([
  ["192.0.2.7", "192.0.2.8"],
  ["2001:db8:1:1::7", "2001:db8:1:2::7"],
  [null, "192.0.2.8"],
])("one address (%s) has at most pendingLoginsPerAddress pending logins", async (address, other) => {
  await using world = await createLoginWorld({ limits: MANY });
  const { pendingLoginsPerAddress } = world.limits;
  expect(await outcomesAround(world, pendingLoginsPerAddress, () => address)).toEqual(AROUND);
  expect(await refusalOf(requestLogin(world, { address: other }))).toBe("fine");
});

test.each([
  ["192.0.2.0/24", (index: number) => `192.0.2.${index % 250}`, "192.0.3.1"],
  ["2001:db8:1::/48", (index: number) => `2001:db8:1:${(index % 250).toString(16)}::1`, "2001:db8:2::1"],
])("one network (%s) has at most pendingLoginsPerNetwork pending logins", async (_, addressOf, other) => {
  await using world = await createLoginWorld({ limits: MANY });
  const { pendingLoginsPerNetwork } = world.limits;
  expect(await outcomesAround(world, pendingLoginsPerNetwork, addressOf)).toEqual(AROUND);
  expect(await refusalOf(requestLogin(world, { address: other }))).toBe("fine");
});

test("logins of the previous second count too", async () => {
  await using world = await createLoginWorld({ limits: { ...MANY, pendingLoginsPerAddress: 5 } });
  for (let at = 0; at < 3; at += 1) await requestLogin(world);
  afterSeconds(world, 1);
  expect(await refusalOf(requestLogin(world))).toBe("fine");
  expect(await refusalOf(requestLogin(world))).toBe("fine");
  expect(await refusalOf(requestLogin(world))).toBe("device_login.too_many_pending");
});

test("decided and expired logins no longer count for their address", async () => {
  await using world = await createLoginWorld({ limits: { ...MANY, pendingLoginsPerAddress: 2 } });
  const first = await requestLogin(world);
  await requestLogin(world);
  const tooMany = { reason: "device_login.too_many_pending", kind: "too_many", retryAfterSeconds: 60 };
  expect(await requestLogin(world).catch((error: unknown) => error)).toMatchObject(tooMany);
  await decide(world, first, { browser: await signIn(world), decision: "refuse" });
  expect(await refusalOf(requestLogin(world))).toBe("fine");
  expect(await refusalOf(requestLogin(world))).toBe("device_login.too_many_pending");
  afterSeconds(world, 600);
  expect(await refusalOf(requestLogin(world))).toBe("fine");
});

test("pending logins of a network are counted once a second, not once a request", async () => {
  using statements = listenToStatements();
  // a request that is counted more than once would reach the limit and have the logins counted again
  await using world = await createLoginWorld({ limits: { ...MANY, pendingLoginsPerAddress: 101 } });
  const statementsOfRequest = async () => {
    statements.take();
    await requestLogin(world);
    return statements.take().length;
  };
  for (let second = 0; second < 2; second += 1) {
    const first = await statementsOfRequest();
    const later: number[] = [];
    for (let at = 1; at < 50; at += 1) later.push(await statementsOfRequest());
    expect(new Set(later).size).toBe(1);
    expect(first).toBeGreaterThan(Math.max(...later));
    afterSeconds(world, 1);
  }
});

/** Rows as unauthenticated callers would create them, inserted directly with SQLite. */
const fillPending = (world: LoginWorld, rows: number): Promise<unknown> =>
  world.db.write((tx) => {
    const nowMs = world.clock.nowMs();
    tx.run(sql`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO device_logins
        (id, device_code_hash, user_code_hash, link_hash, client_id, scope, state, created_at_ms, expires_at_ms)
      SELECT i, i, i, i, 'x', 'x', 'pending', ${nowMs}, ${nowMs + 600 * SECOND_MS} FROM n`);
  }, "access");

test("allows at most DEVICE_LOGINS_PENDING_MAX undecided logins, and decided ones do not count", async () => {
  await using world = await createLoginWorld();
  await fillPending(world, DEVICE_LOGINS_PENDING_MAX - 2);
  expect(await refusalOf(requestLogin(world))).toBe("fine");
  const last = await requestLogin(world);
  const tooMany = { reason: "device_login.too_many_pending", kind: "unavailable", retryAfterSeconds: 60 };
  expect(await requestLogin(world).catch((error: unknown) => error)).toMatchObject(tooMany);
  await decide(world, last, { browser: await signIn(world), decision: "refuse" });
  afterSeconds(world, 1);
  expect(await refusalOf(requestLogin(world))).toBe("fine");
  expect(await refusalOf(requestLogin(world))).toBe("device_login.too_many_pending");
});

/** The operating system's random source, except that it returns the same first bytes `repeats` more times. */
function repeatingIds(repeats: number) {
  const first = systemIds.bytes(32);
  let given = 0;
  return {
    ...systemIds,
    bytes: (length: number) => (given++ <= 2 * repeats ? first : systemIds.bytes(length)),
  };
}

test("a user code in use is drawn again, at most USER_CODE_DRAWS_MAX times", async () => {
  await using world = await createLoginWorld();
  const drawing = (repeats: number) => new DeviceLogins({ ...world, ids: repeatingIds(repeats) });
  const request = { clientId: OAUTH_CLIENT_ID, address: ADDRESS };
  for (const [repeats, outcome] of [
    [USER_CODE_DRAWS_MAX - 1, "fine"],
    [USER_CODE_DRAWS_MAX, "device_login.too_many_pending"],
  ] as const) {
    const logins = drawing(repeats);
    const taken = await logins.request(request);
    const next = logins.request(request);
    expect(await refusalOf(next)).toBe(outcome);
    if (outcome === "fine") expect((await next).userCode).not.toBe(taken.userCode);
  }
});

test("the link shows the request and the workstation's code without claiming the login", async () => {
  await using world = await createLoginWorld();
  const { linkToken, userCode } = await requestLogin(world, { scope: "openid session:write" });
  expect(world.deviceLogins.findByLink(linkToken)).toMatchObject({
    userCode,
    scopes: ["session:write"],
    address: ADDRESS,
    claimedBy: null,
  });
});

test("the first user who opens the link owns it, and another one is refused", async () => {
  await using world = await createLoginWorld();
  const login = await requestLogin(world);
  const ada = await signIn(world);
  const eve = await signIn(world, await addUser(world, "eve@example.com"));
  expect(await world.deviceLogins.claim(ada.actor, login.linkToken)).toMatchObject({
    claimedBy: world.user.id,
  });
  expect(await refusalOf(world.deviceLogins.claim(ada.actor, login.linkToken))).toBe("fine");
  expect(await refusalOf(world.deviceLogins.claim(eve.actor, login.linkToken))).toBe("device_login.claimed");
  const decision = {
    linkToken: login.linkToken,
    loginSessionId: eve.loginSessionId,
    decision: "approve",
  } as const;
  expect(await refusalOf(world.deviceLogins.decide(eve.actor, decision))).toBe("device_login.claimed");
  expect(await refusalOf(world.deviceLogins.claimByUserCode(eve.actor, login.userCode))).toBe(
    "device_login.unavailable",
  );
});

test("exactly one of the users who open the link simultaneously owns it", async () => {
  await using world = await createLoginWorld();
  const { linkToken } = await requestLogin(world);
  const browsers = [];
  for (let index = 0; index < 5; index += 1) {
    browsers.push(await signIn(world, await addUser(world, `user${index}@example.com`)));
  }
  const outcomes = await Promise.all(
    browsers.map(({ actor }) => refusalOf(world.deviceLogins.claim(actor, linkToken))),
  );
  expect(outcomes.sort()).toEqual([...Array(4).fill("device_login.claimed"), "fine"]);
});

test("a user who opens the link twice simultaneously owns it", async () => {
  await using world = await createLoginWorld();
  const { linkToken } = await requestLogin(world);
  const { actor } = await signIn(world);
  const outcomes = [1, 2].map(() => refusalOf(world.deviceLogins.claim(actor, linkToken)));
  expect(await Promise.all(outcomes)).toEqual(["fine", "fine"]);
});

test("only a user can open a login", async () => {
  await using world = await createLoginWorld();
  const { linkToken, userCode } = await requestLogin(world);
  expect(world.deviceLogins.claim(world.system, linkToken)).rejects.toThrow("signed-in user");
  expect(world.deviceLogins.claimByUserCode(world.system, userCode)).rejects.toThrow("signed-in user");
});

test("an unopened login cannot be decided", async () => {
  await using world = await createLoginWorld();
  const { linkToken } = await requestLogin(world);
  const { actor, loginSessionId } = await signIn(world);
  const decided = world.deviceLogins.decide(actor, { linkToken, loginSessionId, decision: "approve" });
  expect(await refusalOf(decided)).toBe("device_login.unclaimed");
});

test.each(["approve", "refuse"] as const)("after %p the link and the code are used up", async (decision) => {
  await using world = await createLoginWorld();
  const login = await requestLogin(world);
  const browser = await signIn(world);
  await decide(world, login, { browser, decision });
  expect(await refusalOf(decide(world, login, { browser, decision }))).toBe("device_login.unavailable");
  expect(world.deviceLogins.findByLink(login.linkToken)).toBeUndefined();
  const typed = world.deviceLogins.claimByUserCode(browser.actor, login.userCode);
  expect(await refusalOf(typed)).toBe("device_login.unavailable");
  expect(audited(world, `device_login.${decision}`)).toMatchObject([{ actorId: world.user.id }]);
});

test("only one of two simultaneous decisions applies", async () => {
  await using world = await createLoginWorld();
  const { linkToken } = await requestLogin(world);
  const { actor, loginSessionId } = await signIn(world);
  await world.deviceLogins.claim(actor, linkToken);
  const deciding = (decision: "approve" | "refuse") =>
    refusalOf(world.deviceLogins.decide(actor, { linkToken, loginSessionId, decision }));
  expect(await Promise.all([deciding("approve"), deciding("refuse")])).toEqual([
    "fine",
    "device_login.unavailable",
  ]);
  expect(onlyRow(world)?.state).toBe("approved");
});

test("an expired link gives the same response as an unknown one", async () => {
  await using world = await createLoginWorld();
  const { linkToken, userCode } = await requestLogin(world);
  const { actor } = await signIn(world);
  afterSeconds(world, 600);
  const failures = [
    refusalOf(world.deviceLogins.claim(actor, linkToken)),
    refusalOf(world.deviceLogins.claim(actor, "A".repeat(43))),
    refusalOf(world.deviceLogins.claim(actor, "no link")),
    refusalOf(world.deviceLogins.claimByUserCode(actor, userCode)),
  ];
  expect(new Set(await Promise.all(failures))).toEqual(new Set(["device_login.unavailable"]));
});

test("an ended session, or one of another user, decides nothing", async () => {
  await using world = await createLoginWorld();
  const { linkToken } = await requestLogin(world);
  const ended = await signIn(world);
  const foreign = await signIn(world, await addUser(world, "eve@example.com"));
  await world.deviceLogins.claim(ended.actor, linkToken);
  await world.sessions.end(ended.sessionToken, ended.actor);
  for (const { loginSessionId } of [ended, foreign]) {
    const decided = world.deviceLogins.decide(ended.actor, {
      linkToken,
      loginSessionId,
      decision: "approve",
    });
    expect(await refusalOf(decided)).toBe("device_login.unavailable");
  }
});

test("the statement that decides a login compares its user for every caller", async () => {
  await using world = await createLoginWorld();
  const { linkToken } = await requestLogin(world);
  const { actor, loginSessionId } = await signIn(world);
  const { id } = await world.deviceLogins.claim(actor, linkToken);
  const deciding = { id, loginSessionId, decision: "approve", nowMs: world.clock.nowMs() } as const;
  const decideAs = (userId: string) =>
    world.db.write((tx) => rows.decide(tx, { ...deciding, userId })?.state, "access");
  expect(await decideAs((await addUser(world, "eve@example.com")).id)).toBeUndefined();
  expect(await decideAs(world.user.id)).toBe("approved");
});

test("a typed code is found in any spelling, and deciding with it works", async () => {
  await using world = await createLoginWorld();
  const { userCode } = await requestLogin(world);
  const { actor, loginSessionId } = await signIn(world);
  const typed = ` ${userCode.slice(0, 4).toLowerCase()}-${userCode.slice(4)} `;
  expect(await world.deviceLogins.claimByUserCode(actor, typed)).toMatchObject({
    userCode,
    claimedBy: actor.id,
  });
  await world.deviceLogins.decideByUserCode(actor, { userCode: typed, loginSessionId, decision: "approve" });
  expect(onlyRow(world)).toMatchObject({ state: "approved", loginSessionId });
});

test("only wrong codes use up the user's guesses; after the last one even a right code is refused", async () => {
  await using world = await createLoginWorld({ limits: { userCodeGuessesPerUser: 2 } });
  const { actor } = await signIn(world);
  const guess = (code: string) => refusalOf(world.deviceLogins.claimByUserCode(actor, code));
  for (let index = 0; index < 4; index += 1)
    expect(await guess((await requestLogin(world)).userCode)).toBe("fine");
  expect(await guess("AAAA2222")).toBe("device_login.unavailable");
  expect(await guess("not a code")).toBe("device_login.unavailable");
  expect(await guess("AAAA2223")).toBe("device_login.unavailable");
  expect(await guess("AAAA2224")).toBe("access.too_many_attempts");
  const { userCode } = await requestLogin(world);
  expect(await guess(userCode)).toBe("access.too_many_attempts");
  afterSeconds(world, world.limits.windowSeconds);
  expect(await guess((await requestLogin(world)).userCode)).toBe("fine");
});

test("an address has one budget of guesses for all its users", async () => {
  await using world = await createLoginWorld({ limits: { userCodeGuessesPerAddress: 1 } });
  const ada = await signIn(world);
  const eve = await signIn(world, await addUser(world, "eve@example.com"));
  const guess = (actor: typeof ada.actor) => refusalOf(world.deviceLogins.claimByUserCode(actor, "AAAA2222"));
  expect(await guess(ada.actor)).toBe("device_login.unavailable");
  expect(await guess(eve.actor)).toBe("access.too_many_attempts");
  expect(await guess({ ...eve.actor, address: "192.0.2.99" })).toBe("device_login.unavailable");
});

test("a login that another user has opened is unavailable, even with its code", async () => {
  await using world = await createLoginWorld();
  const { userCode } = await requestLogin(world);
  const [ada, eve] = [await signIn(world), await signIn(world, await addUser(world, "eve@example.com"))];
  const claimed = (actor: typeof ada.actor) =>
    refusalOf((async () => world.deviceLogins.getClaimed(actor, userCode))());
  expect(await claimed(ada.actor)).toBe("device_login.unavailable");
  await world.deviceLogins.claimByUserCode(ada.actor, userCode);
  expect([await claimed(ada.actor), await claimed(eve.actor)]).toEqual(["fine", "device_login.unavailable"]);
});

test("a code that its user has opened before costs no guess", async () => {
  await using world = await createLoginWorld({ limits: { userCodeGuessesPerUser: 1 } });
  const { userCode } = await requestLogin(world);
  const { actor, loginSessionId } = await signIn(world);
  await world.deviceLogins.claimByUserCode(actor, userCode);
  await refusalOf(world.deviceLogins.claimByUserCode(actor, "AAAA2222"));
  const decided = world.deviceLogins.decideByUserCode(actor, {
    userCode,
    loginSessionId,
    decision: "approve",
  });
  expect(await refusalOf(decided)).toBe("fine");
});

test("none of the three codes is stored", async () => {
  await using world = await createLoginWorld();
  const { deviceCode, linkToken, userCode } = await requestLogin(world);
  for (const secret of [deviceCode, linkToken, userCode]) expect(isAtRest(world.file, secret)).toBe(false);
  expect(isAtRest(world.file, onlyRow(world)?.linkHash ?? "")).toBe(true);
});

test.each([
  ["approve", "approved"],
  ["refuse", "refused"],
] as const)("a claimed login is decided by its code: %s", async (decision, state) => {
  await using world = await createLoginWorld();
  const { linkToken, userCode } = await requestLogin(world);
  const { actor, loginSessionId } = await signIn(world);
  const decide = () => world.deviceLogins.decideClaimed(actor, { userCode, loginSessionId, decision });
  expect(await refusalOf(decide())).not.toBe("fine"); // unclaimed
  await world.deviceLogins.claim(actor, linkToken);
  expect(await refusalOf(decide())).toBe("fine");
  expect(onlyRow(world)).toMatchObject({ state, userId: world.user.id });
});

test("a code whose hash only begins like that of another login is unknown", async () => {
  await using world = await createLoginWorld();
  const { userCode } = await requestLogin(world);
  const browser = await signIn(world);
  const claim = () => refusalOf(world.deviceLogins.claimByUserCode(browser.actor, userCode));
  const similar = sql`substr(${deviceLogins.userCodeHash}, 1, 63) || 'x'`;
  await world.db.write((tx) => void tx.update(deviceLogins).set({ userCodeHash: similar }).run());
  expect(await claim()).toBe("device_login.unavailable");
});
