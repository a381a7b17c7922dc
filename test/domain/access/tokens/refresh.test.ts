// Refreshing: rotation with a grace window, reuse after it, and each refusal (RFC 6749 section 6, RFC 9700 section 4.14).
import { expect, test } from "bun:test";
import { grants, refreshTokens } from "../../../../src/domain/access/tables.ts";
import {
  FAMILY_TOKENS_MAX,
  REFRESH_GRACE_SECONDS,
  ROTATIONS_PER_CLEANUP,
} from "../../../../src/domain/access/tokens/refresh-token.ts";
import { OAUTH_CLIENT_ID, USER_SCOPES } from "../../../../src/domain/access/wire.ts";
import { BASE_URL } from "../access-world.ts";
import {
  afterSeconds,
  audited,
  createLoginWorld,
  type LoginWorld,
  logIn,
  refresh,
  refusalOf,
  revokedReasonOf,
} from "../login-world.ts";

const DAY_SECONDS = 86_400;

const tokenRows = (world: LoginWorld) => world.db.read.select().from(refreshTokens).all().length;

const ask = (
  world: LoginWorld,
  form: { refreshToken?: string; clientId?: string; resource?: string; scope?: string },
) =>
  refusalOf(
    world.grants.refresh({
      refreshToken: undefined,
      clientId: OAUTH_CLIENT_ID,
      ...form,
    }),
  );

test("a refresh gives a new pair of the same grant and the same session", async () => {
  await using world = await createLoginWorld();
  const before = await logIn(world);
  afterSeconds(world, 900);
  const after = await refresh(world, before.refreshToken);
  expect(after).toMatchObject({ token_type: "Bearer", expires_in: 900, scope: USER_SCOPES.join(" ") });
  expect(after.refresh_token).not.toBe(before.refreshToken);
  const { claims } = world.tokens.read(after.access_token);
  expect(claims).toMatchObject({
    sid: before.browser.loginSessionId,
    grant_id: before.grantId,
    aud: BASE_URL,
  });
});

test("a refresh extends the login of its workstation and no other", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  const other = await logIn(world);
  const lives = () =>
    Object.fromEntries(
      world.db.read
        .select()
        .from(grants)
        .all()
        .map(({ id, expiresAtMs }) => [id, expiresAtMs]),
    );
  const before = lives();
  afterSeconds(world, DAY_SECONDS);
  await refresh(world, refreshToken);
  expect(lives()[other.grantId]).toBe(before[other.grantId]);
  expect(lives()[grantId]).toBe((before[grantId] ?? 0) + DAY_SECONDS * 1_000);
});

test("signing out a browser keeps its workstations signed in", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, browser } = await logIn(world);
  await world.sessions.end(browser.sessionToken, browser.actor);
  expect(await refusalOf(refresh(world, refreshToken))).toBe("fine");
});

test("missing parameters, clients and unknown tokens are named", async () => {
  await using world = await createLoginWorld();
  expect(await ask(world, {})).toBe("invalid_request");
  expect(await ask(world, { refreshToken: "" })).toBe("invalid_request");
  expect(await ask(world, { refreshToken: "unknown", clientId: "" })).toBe("invalid_request");
  expect(await ask(world, { refreshToken: "unknown", clientId: "other" })).toBe("invalid_client");
  expect(await ask(world, { refreshToken: "unknown" })).toBe("invalid_grant");
});

test("a token of another OAuth client is invalid and is not spent", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const setClient = (clientId: string) =>
    world.db.write((tx) => void tx.update(grants).set({ clientId }).run());
  await setClient("other");
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  await setClient(OAUTH_CLIENT_ID);
  expect(world.db.read.select().from(refreshTokens).all()).toMatchObject([{ rotatedAtMs: null }]);
});

test("an access token is not a refresh token", async () => {
  await using world = await createLoginWorld();
  const { access_token: refreshToken } = await logIn(world);
  expect(await ask(world, { refreshToken })).toBe("invalid_grant");
});

test("a narrower scope narrows only that access token, never the grant", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const form = { clientId: OAUTH_CLIENT_ID, scope: "session:write" };
  const narrow = await world.grants.refresh({ refreshToken, ...form });
  expect(narrow.scope).toBe("session:write");
  expect(world.tokens.read(narrow.access_token).claims.scope).toBe("session:write");
  expect((await refresh(world, narrow.refresh_token)).scope).toBe(USER_SCOPES.join(" "));
});

test("a wider scope or another resource is refused and spends nothing", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world, { scope: "governance:read offline_access" });
  expect(await ask(world, { refreshToken, scope: "governance:read session:write" })).toBe("invalid_scope");
  expect(await ask(world, { refreshToken, scope: "offline_access" })).toBe("invalid_scope");
  expect(await ask(world, { refreshToken, resource: `${BASE_URL}/` })).toBe("invalid_target");
  expect(world.db.read.select().from(refreshTokens).all()).toMatchObject([{ rotatedAtMs: null }]);
  expect(await ask(world, { refreshToken, scope: "governance:read", resource: BASE_URL })).toBe("fine");
});

test("a suspended user cannot refresh, not even after being resumed", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  await world.identity.users.setStatus(world.system, world.user.id, "suspended");
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  await world.identity.users.setStatus(world.system, world.user.id, "active");
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
});

test("ten processes that refresh one token at the same moment all get the same successor", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  const responses = await Promise.all(Array.from({ length: 10 }, () => refresh(world, refreshToken)));
  expect(new Set(responses.map(({ refresh_token }) => refresh_token)).size).toBe(1);
  for (const { access_token } of responses)
    expect(await world.authenticator.bearer(access_token)).toBeDefined();
  expect(tokenRows(world)).toBe(2);
  expect(await refusalOf(refresh(world, responses[0]?.refresh_token))).toBe("fine");
  expect(revokedReasonOf(world, grantId)).toBeNull();
});

test("until the end of the grace window the old token works; afterwards it ends only its family", async () => {
  await using world = await createLoginWorld();
  const stolen = await logIn(world);
  const other = await logIn(world);
  const { refresh_token: next } = await refresh(world, stolen.refreshToken);
  afterSeconds(world, REFRESH_GRACE_SECONDS - 0.001);
  expect(await refusalOf(refresh(world, stolen.refreshToken))).toBe("fine");
  afterSeconds(world, 0.001);
  expect(await refusalOf(refresh(world, stolen.refreshToken))).toBe("fine");
  afterSeconds(world, 0.001);
  expect(await refusalOf(refresh(world, stolen.refreshToken))).toBe("invalid_grant");
  expect(revokedReasonOf(world, stolen.grantId)).toBe("refresh_token_reused");
  expect(await refusalOf(refresh(world, next))).toBe("invalid_grant");
  expect(() => world.authenticator.bearer(stolen.access_token)).toThrow();
  expect(await refusalOf(refresh(world, other.refreshToken))).toBe("fine");
});

test("a reuse is audited once, with its user", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  await refresh(world, refreshToken);
  afterSeconds(world, REFRESH_GRACE_SECONDS + 1);
  const reused = {
    refreshToken,
    clientId: OAUTH_CLIENT_ID,
    caller: { address: "203.0.113.9", requestId: "r-1" },
  };
  await refusalOf(world.grants.refresh(reused));
  await refusalOf(world.grants.refresh(reused));
  expect(audited(world, "grant.revoke")).toMatchObject([
    { target: grantId, actorId: world.user.id, address: "203.0.113.9", requestId: "r-1" },
  ]);
  expect(audited(world, "grant.revoke")[0]?.after).toContain("refresh_token_reused");
});

test("the grace window counts from the first exchange, not from the latest", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  await refresh(world, refreshToken);
  afterSeconds(world, REFRESH_GRACE_SECONDS);
  await refresh(world, refreshToken);
  afterSeconds(world, 1);
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
});

test("each refresh adds another thirty days; a month without one ends the login", async () => {
  await using world = await createLoginWorld();
  const first = await logIn(world);
  afterSeconds(world, 30 * DAY_SECONDS - 1);
  const { refresh_token: second } = await refresh(world, first.refreshToken);
  afterSeconds(world, 30 * DAY_SECONDS - 1);
  const { refresh_token: third } = await refresh(world, second);
  afterSeconds(world, 30 * DAY_SECONDS);
  expect(await refusalOf(refresh(world, third))).toBe("invalid_grant");
  expect(revokedReasonOf(world, first.grantId)).toBeNull();
});

test("a thousand refreshes leave the newest token and the one before it", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  let current: string | undefined = refreshToken;
  for (let count = 0; count < 1_000; count += 1) {
    afterSeconds(world, 900);
    ({ refresh_token: current } = await refresh(world, current));
    expect(tokenRows(world)).toBe(2);
  }
  expect(await refusalOf(refresh(world, current))).toBe("fine");
});

test("a thousand simultaneous refreshes leave a bounded number of rows, and the newest token works", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  let current: string | undefined = refreshToken;
  for (let count = 0; count < 1_000; count += 1) ({ refresh_token: current } = await refresh(world, current));
  expect(tokenRows(world)).toBeLessThan(FAMILY_TOKENS_MAX + ROTATIONS_PER_CLEANUP);
  expect(await refusalOf(refresh(world, current))).toBe("fine");
  expect(revokedReasonOf(world, grantId)).toBeNull();
});

test.each([
  [FAMILY_TOKENS_MAX - 1, "fine"],
  [FAMILY_TOKENS_MAX, "fine"],
  [FAMILY_TOKENS_MAX + ROTATIONS_PER_CLEANUP, "invalid_grant"],
] as const)(
  "a family with %p tokens within one grace window accepts the oldest: %p",
  async (tokens, response) => {
    await using world = await createLoginWorld();
    const { refreshToken } = await logIn(world);
    let current: string | undefined = refreshToken;
    for (let count = 1; count < tokens; count += 1) {
      afterSeconds(world, 0.001);
      ({ refresh_token: current } = await refresh(world, current));
    }
    expect(tokenRows(world)).toBeLessThan(FAMILY_TOKENS_MAX + ROTATIONS_PER_CLEANUP);
    expect(await refusalOf(refresh(world, refreshToken))).toBe(response);
  },
);

test("a token that was rotated days ago and removed ends its family and no other", async () => {
  await using world = await createLoginWorld();
  const stolen = await logIn(world);
  const other = await logIn(world);
  let current: string | undefined = stolen.refreshToken;
  for (let day = 0; day < 5; day += 1) {
    ({ refresh_token: current } = await refresh(world, current));
    afterSeconds(world, DAY_SECONDS);
  }
  expect(await refusalOf(refresh(world, stolen.refreshToken))).toBe("invalid_grant");
  expect(revokedReasonOf(world, stolen.grantId)).toBe("refresh_token_reused");
  expect(audited(world, "grant.revoke")).toMatchObject([{ target: stolen.grantId }]);
  expect(await refusalOf(refresh(world, current))).toBe("invalid_grant");
  expect(() => world.authenticator.bearer(stolen.access_token)).toThrow();
  expect(await refusalOf(refresh(world, other.refreshToken))).toBe("fine");
});

test("a former token of an expired or revoked grant has no effect", async () => {
  await using world = await createLoginWorld();
  const [expired, revoked] = [await logIn(world), await logIn(world)];
  for (const { refreshToken } of [expired, revoked]) await refresh(world, refreshToken);
  await world.grants.revoke({ token: revoked.refreshToken, clientId: OAUTH_CLIENT_ID });
  afterSeconds(world, 30 * DAY_SECONDS);
  for (const { refreshToken } of [expired, revoked])
    expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  expect(revokedReasonOf(world, expired.grantId)).toBeNull();
  expect(audited(world, "grant.revoke")).toMatchObject([{ target: revoked.grantId }]);
});

test("a token of an active family whose own month has passed is a former one, swept or not", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  await world.db.write(
    (tx) =>
      void tx
        .update(refreshTokens)
        .set({ expiresAtMs: world.clock.nowMs() + 1 })
        .run(),
  );
  afterSeconds(world, 0.001);
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  expect(revokedReasonOf(world, grantId)).toBe("refresh_token_reused");
});

/** @returns the changes after another caller presents the token: none */
async function expectNothingFrom(world: LoginWorld, forged: string) {
  const before = [
    world.db.read.select().from(grants).all(),
    world.db.read.select().from(refreshTokens).all(),
  ];
  const revision = world.db.revision("access");
  expect(await refusalOf(refresh(world, forged))).toBe("invalid_grant");
  await world.grants.revoke({ token: forged, clientId: OAUTH_CLIENT_ID });
  expect(world.db.revision("access")).toBe(revision);
  expect([
    world.db.read.select().from(grants).all(),
    world.db.read.select().from(refreshTokens).all(),
  ]).toEqual(before);
}

test("a forged token with an unknown family secret has no effect", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const [family = "", token = ""] = refreshToken.split(".");
  const secret = (length: number) => "A".repeat(length);
  for (const forged of [
    `${secret(22)}.${secret(43)}`,
    `${secret(22)}.${token}`,
    token,
    family,
    `${family}.`,
    `${family}.${token}x`,
    `${family}.${token.slice(1)}`,
  ])
    await expectNothingFrom(world, forged);
  expect(await refusalOf(refresh(world, refreshToken))).toBe("fine");
});

test("the contents of an access token and of the database do not help to forge a refresh token", async () => {
  await using world = await createLoginWorld();
  const { access_token: accessToken, grantId } = await logIn(world);
  const { claims } = world.tokens.read(accessToken);
  const familyHash = world.db.read.select().from(grants).all()[0]?.familyHash ?? "";
  const grantBytes = Buffer.from(grantId.replaceAll("-", ""), "hex").toString("base64url");
  const families = [grantId, grantBytes, claims.sid ?? "", familyHash, familyHash.slice(0, 22)];
  for (const family of families) await expectNothingFrom(world, `${family}.${"A".repeat(43)}`);
});

test("naming the family requires one of its tokens: an invented successor counts as a former one", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  const madeUp = `${refreshToken.split(".")[0]}.${"A".repeat(43)}`;
  expect(await refusalOf(refresh(world, madeUp))).toBe("invalid_grant");
  expect(revokedReasonOf(world, grantId)).toBe("refresh_token_reused");
});
