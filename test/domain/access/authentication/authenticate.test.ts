// Bearer tokens and cookies become principals: which changes take effect immediately, which calls need no query, and what is
// bounded.
import { expect, spyOn, test } from "bun:test";
import { eq, isNotNull } from "drizzle-orm";
import { createAuthenticator } from "../../../../src/domain/access/authentication/authenticate.ts";
import * as store from "../../../../src/domain/access/authentication/authenticate-store.ts";
import { VerifiedTokens } from "../../../../src/domain/access/authentication/verified-tokens.ts";
import { endGrants } from "../../../../src/domain/access/logins/end-logins.ts";
import { grants, signingKeys } from "../../../../src/domain/access/tables.ts";
import { USER_SCOPES } from "../../../../src/domain/access/wire.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import { HOUR_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { CLOCK_TOLERANCE_SECONDS } from "../../../../src/platform/crypto/signing.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { START_MS } from "../../../support/world.ts";
import { type AccessWorld, addGrant, createAccessWorld, mintToken, SETTINGS } from "../access-world.ts";

/** @returns the reason of the refusal, or the role of the accepted caller */
async function outcome(act: () => unknown): Promise<unknown> {
  try {
    await act();
    return "let in";
  } catch (error) {
    return error instanceof DomainError ? `${error.kind} ${error.reason}` : error;
  }
}

const bearer = (world: AccessWorld, token: string) => outcome(() => world.authenticator.bearer(token));
const cookie = (world: AccessWorld, token: string) => outcome(() => world.authenticator.session(token));

async function knownToken(world: AccessWorld) {
  const grant = await addGrant(world);
  const token = mintToken(world, grant);
  const principal = world.authenticator.bearer(token);
  return { grant, token, principal };
}

const openSession = (world: AccessWorld) =>
  world.db.write(
    (tx) => world.sessions.open(tx, world.user.id, { address: null, userAgent: "Browser/1" }),
    "access",
  );

const FROM_PROVIDER = {
  method: "oidc",
  issuer: "https://id.example.org/",
  providerSessionId: null,
  authTimeMs: null,
  acr: null,
} as const;

test.each([
  ["the provider confirmed its user", FROM_PROVIDER, true, "let in"],
  ["the provider did not confirm its user", FROM_PROVIDER, false, "unauthenticated access.session_invalid"],
  ["it began with a password, with or without a confirmation by the provider", undefined, false, "let in"],
] as const)("a browser session where %s: %#", async (_what, how, isConfirmed, expected) => {
  await using world = await createAccessWorld();
  const authenticator = createAuthenticator({ ...world, isConfirmed: () => isConfirmed });
  const { token } = await world.db.write(
    (tx) => world.sessions.open(tx, world.user.id, { address: null, userAgent: null }, how),
    "access",
  );
  expect(await outcome(() => authenticator.session(token))).toBe(expected);
});

test("a bearer becomes a principal with the database's user and the token's scopes", async () => {
  await using world = await createAccessWorld();
  const { grant, token, principal } = await knownToken(world);
  const expected = {
    kind: "bearer" as const,
    userId: world.user.id,
    organizationId: world.organizationId,
    role: "member" as const,
    scopes: new Set(USER_SCOPES),
    sid: grant.sid,
    sessionId: null,
    grantId: grant.id,
    expiresAtMs: START_MS + 900 * SECOND_MS,
    issuedAtMs: START_MS,
    renewed: false,
  };
  for (const caller of [principal, world.authenticator.bearer(token)]) {
    expect(caller).toMatchObject(expected);
    expect([caller.subject, caller.email]).toEqual([world.user.subject, "ada@example.com"]);
  }
});

test.each([
  ["removed", "unauthenticated access.revoked"],
  ["suspended", "unauthenticated access.user_suspended"],
  ["active", "let in"],
] as const)("shows the current facts about a user who has been %s since", async (status, expected) => {
  await using world = await createAccessWorld();
  const { token } = await knownToken(world);
  const caller = world.authenticator.known(token);
  await world.db.write((tx) => {
    tx.update(users).set({ status }).where(eq(users.id, world.user.id)).run();
  }, "access");
  expect(await outcome(() => caller?.email)).toBe(expected);
  expect(await outcome(() => caller?.subject)).toBe(expected);
});

test.each([
  ["all scopes", USER_SCOPES.join(" ")],
  ["one scope", "session:write"],
])("a token of %s gives the same principal again", async (_name, scope) => {
  await using world = await createAccessWorld();
  const grant = await addGrant(world);
  const token = mintToken(world, grant, { scope });
  const first = world.authenticator.bearer(token);
  expect(world.authenticator.known(token)).toEqual(first);
  expect(first.scopes).toEqual(new Set(scope.split(" ")));
});

test("a caller from the cache keeps its own ids while others are authenticated", async () => {
  await using world = await createAccessWorld();
  const [one, other] = [await knownToken(world), await knownToken(world)];
  const caller = world.authenticator.known(one.token);
  world.authenticator.known(other.token);
  const { userId, sid, grantId } = other.principal;
  const late = await knownToken(world); // rewrites rows of the cache
  expect(caller).toMatchObject({ userId: world.user.id, sid: one.grant.sid, grantId: one.grant.id });
  expect([userId, sid, grantId]).toEqual([world.user.id, other.grant.sid, other.grant.id]);
  expect(late.principal.grantId).toBe(late.grant.id);
});

test("a token with an unknown scope is accepted and verified each time", async () => {
  await using world = await createAccessWorld();
  const token = mintToken(world, await addGrant(world), { scope: "session:write another" });
  expect(world.authenticator.bearer(token).scopes).toEqual(new Set(["session:write", "another"]));
  expect(world.authenticator.known(token)).toBeUndefined();
});

test("a token seen before is not verified again", async () => {
  await using world = await createAccessWorld();
  const { token } = await knownToken(world);
  const verification = spyOn(world.tokens, "read");
  world.authenticator.bearer(token);
  expect(verification).toHaveBeenCalledTimes(0);
});

test("callers that wait with the same new token verify it once", async () => {
  await using world = await createAccessWorld();
  const token = mintToken(world, await addGrant(world));
  const verified = new VerifiedTokens(SETTINGS.tokenMemoryBytes); // keys of a process that did not sign the token
  const authenticator = createAuthenticator({ ...world, verified });
  const verification = spyOn(world.tokens, "read");
  const waiting = [1, 2].map(() => authenticator.known(token) ?? (() => authenticator.bearer(token)));
  const admitted = waiting.map((wait) => (typeof wait === "function" ? wait().userId : "not new"));
  expect(admitted).toEqual([world.user.id, world.user.id]);
  expect(verification).toHaveBeenCalledTimes(1);
});

test("a signature has only one spelling, so a token is cached only once", async () => {
  await using world = await createAccessWorld();
  const { token } = await knownToken(world);
  // The last character of 64 bytes in base64url has four unused bits.
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet[alphabet.indexOf(token.at(-1) ?? "") ^ 1];
  for (const other of [`${token.slice(0, -1)}${last}`, `${token}=`, `${token}!`, `${token} `])
    expect(await bearer(world, other)).toBe("unauthenticated access.token_invalid");
});

test("the claims of one token are refused under the signature of another, though both were verified", async () => {
  await using world = await createAccessWorld();
  const [one, other] = [await knownToken(world), await knownToken(world)];
  const end = (token: string) => token.lastIndexOf(".");
  const mixed = one.token.slice(0, end(one.token)) + other.token.slice(end(other.token));
  expect(one.token.slice(0, end(one.token))).not.toBe(other.token.slice(0, end(other.token)));
  expect(world.authenticator.known(mixed)).toBeUndefined();
  expect(await bearer(world, mixed)).toBe("unauthenticated access.token_invalid");
  expect(await bearer(world, one.token)).toBe("let in");
});

test("the first use of a token takes one query, and later uses take none while nothing changes", async () => {
  await using world = await createAccessWorld();
  const lookUp = spyOn(store, "findHolder");
  const userLookUp = spyOn(world.identity, "findUserById");
  const { token } = await knownToken(world);
  expect(lookUp).toHaveBeenCalledTimes(1);
  lookUp.mockClear();
  for (let i = 0; i < 1_000; i += 1) world.authenticator.bearer(token);
  expect(lookUp).toHaveBeenCalledTimes(0);
  expect(userLookUp).toHaveBeenCalledTimes(0);
  await world.db.write((tx) => tx.update(grants).set({ refreshedAtMs: 1 }).run(), "access");
  for (let i = 0; i < 1_000; i += 1) world.authenticator.bearer(token);
  expect(lookUp).toHaveBeenCalledTimes(1);
  expect(userLookUp).toHaveBeenCalledTimes(0);
  lookUp.mockRestore();
});

test("a token is valid until the end of the tolerance, whether or not it was seen before", async () => {
  await using world = await createAccessWorld();
  const { grant, token } = await knownToken(world);
  const unseen = mintToken(world, grant);
  const endMs = START_MS + (SETTINGS.accessTokenTtlSeconds + CLOCK_TOLERANCE_SECONDS) * SECOND_MS;
  world.clock.set(endMs - 1);
  expect(await bearer(world, token)).toBe("let in");
  world.clock.set(endMs);
  expect(await bearer(world, token)).toBe("unauthenticated access.token_expired");
  expect(await bearer(world, unseen)).toBe("unauthenticated access.token_expired");
});

test("a revoked grant is refused by the next call, and by every later one", async () => {
  await using world = await createAccessWorld();
  const { grant, token } = await knownToken(world);
  const other = await knownToken(world);
  await world.db.write(
    (tx) => endGrants(tx, { grantIds: [grant.id], reason: "test", nowMs: START_MS }),
    "access",
  );
  expect(await bearer(world, token)).toBe("unauthenticated access.revoked");
  expect(await bearer(world, token)).toBe("unauthenticated access.revoked");
  expect(await bearer(world, other.token)).toBe("let in");
});

test("the next call after a revocation by another process is refused", async () => {
  await using world = await createAccessWorld();
  const { grant, token } = await knownToken(world);
  const script = `${import.meta.dir}/end-grant-child.ts`;
  const child = Bun.spawn([process.execPath, script, world.file, grant.id], { stderr: "pipe" });
  expect(await new Response(child.stderr).text()).toBe("");
  expect(await bearer(world, token)).toBe("unauthenticated access.revoked");
});

test.each([
  ["this process", false],
  ["another process", true],
])(
  "refuses all of 500 calls after a revocation by %s, among thousands of remembered tokens",
  async (_name, isOther) => {
    await using world = await createAccessWorld();
    const [revoked, standing] = [await addGrant(world), await addGrant(world)];
    const tokensOf = (grant: typeof revoked) => Array.from({ length: 1_000 }, () => mintToken(world, grant));
    const [dead, alive] = [tokensOf(revoked), tokensOf(standing)];
    for (const token of [...dead, ...alive]) world.authenticator.bearer(token);
    const db = isOther ? openDatabase(world.file) : world.db;
    const ended = { grantIds: [revoked.id], reason: "test", nowMs: START_MS };
    await db.write((tx) => endGrants(tx, ended), "access");
    for (const token of dead.slice(0, 500))
      expect(await bearer(world, token)).toBe("unauthenticated access.revoked");
    for (const token of alive) expect(world.authenticator.known(token)?.grantId).toBe(standing.id);
    if (isOther) await db.close();
  },
);

test("a grant whose row was deleted is refused", async () => {
  await using world = await createAccessWorld();
  const { grant, token } = await knownToken(world);
  await world.db.write((tx) => tx.delete(grants).where(eq(grants.id, grant.id)).run());
  expect(await bearer(world, token)).toBe("unauthenticated access.revoked");
});

test("every credential of a suspended user is refused, even after the user is resumed", async () => {
  await using world = await createAccessWorld();
  const { token } = await knownToken(world);
  const session = await openSession(world);
  await world.identity.users.setStatus(world.system, world.user.id, "suspended");
  expect(await bearer(world, token)).toBe("unauthenticated access.user_suspended");
  expect(await cookie(world, session.token)).toBe("unauthenticated access.session_invalid");
  await world.identity.users.setStatus(world.system, world.user.id, "active");
  expect(await bearer(world, token)).toBe("unauthenticated access.revoked");
  expect(await cookie(world, session.token)).toBe("unauthenticated access.session_invalid");
});

test("a token of a user whose subject has changed is refused", async () => {
  await using world = await createAccessWorld();
  const { grant, token } = await knownToken(world);
  await world.db.write((tx) => tx.update(users).set({ subject: world.ids.uuid() }).run(), "access");
  expect(await bearer(world, token)).toBe("unauthenticated access.revoked");
  expect(await bearer(world, mintToken(world, grant))).toBe("unauthenticated access.revoked");
});

test("a new role applies to the tokens that survive the change, and ends earlier ones", async () => {
  await using world = await createAccessWorld();
  const before = await knownToken(world);
  await world.identity.users.setRole(world.system, world.user.id, "admin");
  expect(await bearer(world, before.token)).toBe("unauthenticated access.revoked");
  const grant = await addGrant(world);
  // The token has the role of the time when it was signed; that role gives no permissions.
  const after = world.authenticator.bearer(mintToken(world, grant));
  expect(after.role).toBe("admin");
});

test("a token whose signing key was removed is refused although it was verified before", async () => {
  await using world = await createAccessWorld();
  const { token } = await knownToken(world);
  await world.keys.rotate(world.system);
  expect(await bearer(world, token)).toBe("let in");
  await world.db.write((tx) => tx.delete(signingKeys).where(isNotNull(signingKeys.retiredAtMs)).run());
  expect(await bearer(world, token)).toBe("unauthenticated access.token_invalid");
});

test("invalid tokens take no memory, in any number", async () => {
  await using world = await createAccessWorld();
  const { token } = await knownToken(world);
  const keyLookUp = spyOn(world.keys, "find");
  const header = Buffer.from('{"alg":"EdDSA","typ":"at+jwt","kid":"unknown"}').toString("base64url");
  for (let i = 0; i < 1_000; i += 1) {
    expect(await bearer(world, `${header}.e30.${i}`)).toBe("unauthenticated access.token_invalid");
  }
  expect(keyLookUp).toHaveBeenCalledTimes(1_000);
  expect(world.authenticator.known(token)).toBeDefined();
});

test("a cookie becomes a principal with every user scope and no sid", async () => {
  await using world = await createAccessWorld();
  const session = await openSession(world);
  expect(world.authenticator.session(session.token)).toMatchObject({
    kind: "session",
    userId: world.user.id,
    scopes: new Set(USER_SCOPES),
    sid: null,
    sessionId: session.id,
    grantId: null,
    expiresAtMs: START_MS + 12 * HOUR_MS,
    issuedAtMs: START_MS,
    renewed: false,
  });
});

test("a login session ends at its last millisecond", async () => {
  await using world = await createAccessWorld();
  const { token } = await openSession(world);
  world.clock.set(START_MS + 12 * HOUR_MS);
  expect(await cookie(world, token)).toBe("unauthenticated access.session_invalid");
  world.clock.set(START_MS + 12 * HOUR_MS - 1);
  expect(await cookie(world, token)).toBe("let in");
});

test("use extends a login session, but writes at most once an hour", async () => {
  await using world = await createAccessWorld();
  const { token } = await openSession(world);
  const write = spyOn(world.db, "write");
  world.clock.advance(HOUR_MS - 1);
  expect(world.authenticator.session(token).renewed).toBe(false);
  expect(write).toHaveBeenCalledTimes(0);
  world.clock.advance(1);
  const renewed = world.authenticator.session(token);
  expect(renewed).toMatchObject({ renewed: true, expiresAtMs: START_MS + 13 * HOUR_MS });
  expect(world.authenticator.session(token).renewed).toBe(false);
  expect(write).toHaveBeenCalledTimes(1);
  await world.db.write(() => undefined, "access"); // the extension was queued before this write
  world.clock.set(START_MS + 13 * HOUR_MS - 1);
  expect(await cookie(world, token)).toBe("let in");
});

test.each([0, 1, 42, 43, 44, 10_000])("a cookie of %p unknown characters is refused", async (length) => {
  await using world = await createAccessWorld();
  expect(await cookie(world, "x".repeat(length))).toBe("unauthenticated access.session_invalid");
});

test("every refusal has the same text, so that a guess reveals nothing", async () => {
  await using world = await createAccessWorld();
  const { grant, token } = await knownToken(world);
  await world.db.write(
    (tx) => endGrants(tx, { grantIds: [grant.id], reason: "test", nowMs: START_MS }),
    "access",
  );
  const messages = await Promise.all(
    [token, "nonsense", `${token}x`].map(async (presented) => {
      try {
        await world.authenticator.bearer(presented);
        return undefined;
      } catch (error) {
        return String(error);
      }
    }),
  );
  expect(new Set(messages).size).toBe(1);
  expect(messages[0]).toContain("sign in again");
});
