// The responses to a workstation that polls, in the order of the checks (RFC 8628 section 3.5), and that a code can be redeemed
// once.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { deviceLogins, grants, refreshTokens } from "../../../../src/domain/access/tables.ts";
import { OAUTH_CLIENT_ID, USER_SCOPES } from "../../../../src/domain/access/wire.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import { TOKEN_LENGTH_MAX } from "../../../../src/platform/crypto/signing.ts";
import { BASE_URL } from "../access-world.ts";
import { isAtRest } from "../at-rest.ts";
import {
  addUser,
  afterSeconds,
  anotherProcess,
  audited,
  createLoginWorld,
  decide,
  type LoginWorld,
  logIn,
  redeem,
  refresh,
  refusalOf,
  requestApproved,
  requestLogin,
  revokedReasonOf,
  signIn,
} from "../login-world.ts";

const poll = (world: LoginWorld, deviceCode: string) => refusalOf(redeem(world, deviceCode));

test("an approved code gives tokens whose claims name the approving session", async () => {
  await using world = await createLoginWorld();
  world.clock.advance(999);
  const { deviceCode, browser } = await requestApproved(world);
  const response = await redeem(world, deviceCode);
  expect(response).toEqual({
    access_token: expect.any(String),
    token_type: "Bearer",
    expires_in: 900,
    expires_at: Math.floor(world.clock.nowMs() / 1_000) + 900,
    refresh_token: expect.stringMatching(/^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/),
    scope: USER_SCOPES.join(" "),
  });
  expect(world.tokens.read(response.access_token).claims).toMatchObject({
    aud: BASE_URL,
    sub: world.user.subject,
    sid: browser.loginSessionId,
    scope: response.scope,
    exp: response.expires_at,
  });
  expect(audited(world, "grant.create")).toMatchObject([{ actorId: world.user.id }]);
});

test("a login that was stored without a resource is for this service", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world);
  await world.db.write((tx) => tx.update(deviceLogins).set({ resource: null }).run(), "access");
  const response = await redeem(world, deviceCode);
  expect(world.tokens.read(response.access_token).claims.aud).toBe(BASE_URL);
});

test("a refresh token requires offline access", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world, { scope: "governance:read" });
  const response = await redeem(world, deviceCode);
  expect(response.scope).toBe("governance:read");
  expect(response).not.toHaveProperty("refresh_token");
  expect(world.db.read.select().from(refreshTokens).all()).toEqual([]);
});

test("missing parameters and clients are named first", async () => {
  await using world = await createLoginWorld();
  const ask = (form: object) =>
    refusalOf(world.grants.redeem({ deviceCode: "unknown", clientId: OAUTH_CLIENT_ID, ...form }));
  expect(await ask({ deviceCode: undefined })).toBe("invalid_request");
  expect(await ask({ deviceCode: "" })).toBe("invalid_request");
  expect(await ask({ clientId: undefined })).toBe("invalid_request");
  expect(await ask({ clientId: "other" })).toBe("invalid_client");
  expect(await ask({})).toBe("invalid_grant");
});

test("a code of another OAuth client is unknown, even if it could be polled", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestLogin(world);
  await world.db.write((tx) => void tx.update(deviceLogins).set({ clientId: "other" }).run());
  expect(await poll(world, deviceCode)).toBe("invalid_grant");
});

test("USE-1 the interval counts from the last accepted poll, so a client that waits always makes progress", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestLogin(world);
  expect(await poll(world, deviceCode)).toBe("authorization_pending");
  expect(await poll(world, deviceCode)).toBe("slow_down");
  afterSeconds(world, 4.999);
  expect(await poll(world, deviceCode)).toBe("slow_down");
  afterSeconds(world, 0.001);
  expect(await poll(world, deviceCode)).toBe("authorization_pending");
  afterSeconds(world, 5.001);
  expect(await poll(world, deviceCode)).toBe("authorization_pending");
});

test("USE-1 an approval reaches the workstation with the next timely poll", async () => {
  await using world = await createLoginWorld();
  const login = await requestLogin(world);
  expect(await poll(world, login.deviceCode)).toBe("authorization_pending");
  await decide(world, login, { browser: await signIn(world), decision: "approve" });
  expect(await poll(world, login.deviceCode)).toBe("slow_down");
  afterSeconds(world, 5);
  expect(await poll(world, login.deviceCode)).toBe("fine");
});

test("after a restart the first poll is accepted", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestLogin(world);
  await poll(world, deviceCode);
  const restarted = anotherProcess(world).redeem({ deviceCode, clientId: OAUTH_CLIENT_ID });
  expect(await refusalOf(restarted)).toBe("authorization_pending");
});

test("a poll before the decision writes nothing", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestLogin(world);
  const revision = world.db.revision("access");
  for (let index = 0; index < 3; index += 1) {
    await poll(world, deviceCode);
    afterSeconds(world, 5);
  }
  expect(world.db.revision("access")).toBe(revision);
});

test("polling too early is reported before expired, expired before pending, approved and refused", async () => {
  await using world = await createLoginWorld({ settings: { deviceCodeTtlSeconds: 6 } });
  const pending = await requestLogin(world);
  const refused = await requestLogin(world);
  const approved = await requestApproved(world);
  await decide(world, refused, { browser: approved.browser, decision: "refuse" });
  afterSeconds(world, 5.999);
  expect(await poll(world, refused.deviceCode)).toBe("access_denied");
  expect(await poll(world, pending.deviceCode)).toBe("authorization_pending");
  afterSeconds(world, 0.001);
  expect(await poll(world, pending.deviceCode)).toBe("slow_down");
  expect(await poll(world, approved.deviceCode)).toBe("expired_token");
  afterSeconds(world, 5);
  expect(await poll(world, pending.deviceCode)).toBe("expired_token");
  expect(await poll(world, refused.deviceCode)).toBe("expired_token");
});

test("pending and refused are reported before a wrong resource, which does not spend an approved code", async () => {
  await using world = await createLoginWorld();
  const login = await requestLogin(world);
  const browser = await signIn(world);
  const elsewhere = { clientId: OAUTH_CLIENT_ID, resource: `${BASE_URL}/` };
  const ask = (deviceCode: string) => refusalOf(world.grants.redeem({ deviceCode, ...elsewhere }));
  expect(await ask(login.deviceCode)).toBe("authorization_pending");
  await decide(world, login, { browser, decision: "approve" });
  afterSeconds(world, 5);
  expect(await ask(login.deviceCode)).toBe("invalid_target");
  afterSeconds(world, 5);
  expect(await poll(world, login.deviceCode)).toBe("fine");
  const refused = await requestLogin(world);
  await decide(world, refused, { browser, decision: "refuse" });
  expect(await ask(refused.deviceCode)).toBe("access_denied");
});

test("a pending code stays pending when the session of its user ends", async () => {
  await using world = await createLoginWorld();
  const login = await requestLogin(world);
  const browser = await signIn(world);
  await world.deviceLogins.claim(browser.actor, login.linkToken);
  await world.sessions.end(browser.sessionToken, browser.actor);
  expect(await poll(world, login.deviceCode)).toBe("authorization_pending");
});

test("an approval is void once its session was signed out", async () => {
  await using world = await createLoginWorld();
  const { deviceCode, browser } = await requestApproved(world);
  await world.sessions.end(browser.sessionToken, browser.actor);
  expect(await poll(world, deviceCode)).toBe("invalid_grant");
});

test("an approval is void once its session has expired", async () => {
  await using world = await createLoginWorld({ settings: { browserSessionTtlSeconds: 60 } });
  const { deviceCode } = await requestApproved(world);
  afterSeconds(world, 60);
  expect(await poll(world, deviceCode)).toBe("invalid_grant");
});

test("an approval is void if its session belongs to another user", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world);
  const { id: userId } = await addUser(world, "eve@example.com");
  await world.db.write((tx) => void tx.update(deviceLogins).set({ userId }).run());
  expect(await poll(world, deviceCode)).toBe("invalid_grant");
});

test("a user who was suspended after approving gets nothing", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world);
  await world.identity.users.setStatus(world.system, world.user.id, "suspended");
  expect(await poll(world, deviceCode)).toBe("invalid_grant");
  expect(world.db.read.select().from(grants).all()).toEqual([]);
});

test("a user who is suspended only in the row gets nothing, although the approval still exists", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world);
  await world.db.write((tx) => void tx.update(users).set({ status: "suspended" }).run());
  expect(await poll(world, deviceCode)).toBe("invalid_grant");
  expect(world.db.read.select().from(grants).all()).toEqual([]);
});

test("a spent code stays unknown when it is sent again", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world);
  expect(await poll(world, deviceCode)).toBe("fine");
  for (let index = 0; index < 3; index += 1) expect(await poll(world, deviceCode)).toBe("invalid_grant");
  afterSeconds(world, 600);
  expect(await poll(world, deviceCode)).toBe("invalid_grant");
});

test("exactly one of ten processes that redeem one code simultaneously succeeds", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world);
  const processes = Array.from({ length: 10 }, () => anotherProcess(world));
  const attempts = processes.map((grants) =>
    refusalOf(grants.redeem({ deviceCode, clientId: OAUTH_CLIENT_ID })),
  );
  expect((await Promise.all(attempts)).sort()).toEqual(["fine", ...Array(9).fill("invalid_grant")]);
  expect(world.db.read.select().from(grants).all()).toHaveLength(1);
  expect(world.db.read.select().from(refreshTokens).all()).toHaveLength(1);
});

test("a revocation immediately ends the grant of the token and no other", async () => {
  await using world = await createLoginWorld();
  const one = await logIn(world);
  const other = await logIn(world);
  await world.grants.revoke({ token: one.refreshToken, clientId: OAUTH_CLIENT_ID });
  expect(revokedReasonOf(world, one.grantId)).toBe("revoked_by_client");
  expect(revokedReasonOf(world, other.grantId)).toBeNull();
  expect(() => world.authenticator.bearer(one.access_token)).toThrow();
  expect(audited(world, "grant.revoke")).toMatchObject([{ target: one.grantId, actorId: world.user.id }]);
});

test("revoking an unknown or revoked token succeeds and changes nothing", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const revoke = (token: string) => refusalOf(world.grants.revoke({ token, clientId: OAUTH_CLIENT_ID }));
  for (const token of ["unknown", "a.b.c", `${"A".repeat(22)}.${"A".repeat(43)}`, refreshToken.slice(0, -1)])
    expect(await revoke(token)).toBe("fine");
  expect(audited(world, "grant.revoke")).toHaveLength(0);
  expect(await revoke(refreshToken)).toBe("fine");
  expect(await revoke(refreshToken)).toBe("fine");
  expect(audited(world, "grant.revoke")).toHaveLength(1);
});

test("a former refresh token, rotated just now or days ago, still revokes its family and no other", async () => {
  await using world = await createLoginWorld();
  for (const days of [0, 3]) {
    const [old, other] = [await logIn(world), await logIn(world)];
    const { refresh_token: next } = await refresh(world, old.refreshToken);
    afterSeconds(world, days * 86_400);
    await refresh(world, next);
    await world.grants.revoke({ token: old.refreshToken, clientId: OAUTH_CLIENT_ID });
    expect(revokedReasonOf(world, old.grantId)).toBe("revoked_by_client");
    expect(revokedReasonOf(world, other.grantId)).toBeNull();
  }
});

test("an access token cannot be revoked by itself, even if it is invalid, and any other text is unknown", async () => {
  await using world = await createLoginWorld();
  const { access_token: token } = await logIn(world);
  const revoke = (text = token) => refusalOf(world.grants.revoke({ token: text, clientId: OAUTH_CLIENT_ID }));
  expect(await revoke()).toBe("unsupported_token_type");
  afterSeconds(world, 86_400);
  expect(await revoke()).toBe("unsupported_token_type");
  expect(await revoke(`${token.slice(0, -1)}!`)).toBe("unsupported_token_type");
  for (const text of ["x", "a.b.c", token.replaceAll(".", "-"), token + "x".repeat(TOKEN_LENGTH_MAX)])
    expect(await revoke(text)).toBe("fine");
});

test("a revocation must name the client, which is not authenticated otherwise", async () => {
  await using world = await createLoginWorld();
  for (const clientId of [undefined, "", "other"]) {
    const revoked = world.grants.revoke({ token: undefined, clientId });
    expect(revoked).rejects.toMatchObject({ code: "invalid_client", kind: "unauthenticated" });
  }
  expect(await refusalOf(world.grants.revoke({ token: undefined, clientId: OAUTH_CLIENT_ID }))).toBe(
    "invalid_request",
  );
});

test("stores no token", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, access_token: accessToken, grantId } = await logIn(world);
  const { refresh_token: next } = await world.grants.refresh({ refreshToken, clientId: OAUTH_CLIENT_ID });
  for (const secret of [...refreshToken.split("."), ...(next ?? "").split("."), accessToken])
    expect(isAtRest(world.file, secret)).toBe(false);
  const [row] = world.db.read.select().from(refreshTokens).where(eq(refreshTokens.grantId, grantId)).all();
  expect(isAtRest(world.file, row?.tokenHash ?? "")).toBe(true);
});
