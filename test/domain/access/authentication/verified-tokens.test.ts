// The cache of verified tokens: what it stores for a token, and which tokens do not fit into its rows and are verified each time.
import { expect, test } from "bun:test";
import {
  KEYS_MAX,
  LIFE_SECONDS_MAX,
  subjectMark,
  TOKEN_BYTES_MAX,
  VerifiedTokens,
} from "../../../../src/domain/access/authentication/verified-tokens.ts";
import type { ReadToken } from "../../../../src/domain/access/tokens/access-tokens.ts";
import { OAUTH_CLIENT_ID, USER_SCOPES } from "../../../../src/domain/access/wire.ts";
import { readUuid } from "../../../../src/platform/uuid-words.ts";

const NOW = 1_800_000_000;
const ORIGIN = "https://quartermaster.example";
const GRANT = "01940000-0000-7000-8000-000000000001";

const read = (claims: Partial<ReadToken["claims"]> = {}, kid = "key"): ReadToken => ({
  claims: {
    iss: ORIGIN,
    aud: ORIGIN,
    sub: "ana",
    sid: "session",
    jti: "token",
    client_id: OAUTH_CLIENT_ID,
    azp: OAUTH_CLIENT_ID,
    org_id: "organization",
    email: "ana@example.org",
    role: "member",
    grant_id: GRANT,
    scope: "governance:read",
    iat: NOW,
    exp: NOW + 60,
    ...claims,
  },
  kid,
});

const open = () => new VerifiedTokens(2 ** 20);

function found(claims: Partial<ReadToken["claims"]>) {
  const tokens = open();
  tokens.add("token", read(claims), NOW);
  return tokens.find("token");
}

test("finds a token as it was added, and no other token", () => {
  const tokens = open();
  tokens.add("token", read({ scope: "governance:read client-status:write" }), NOW);
  const { grant, ...known } = tokens.find("token") ?? { grant: new Uint32Array() };
  expect(known).toEqual({
    subject: subjectMark("ana"),
    kid: "key",
    scopes: new Set(["governance:read", "client-status:write"]),
    expiresAtSeconds: NOW + 60,
    issuedAtSeconds: NOW,
  });
  expect(readUuid(grant)).toBe(GRANT);
  expect([tokens.find("token "), tokens.unexpiredAt(NOW), tokens.bytes > 0]).toEqual([undefined, 1, true]);
});

test("tokens that are looked up before they are added are kept apart", () => {
  const tokens = open();
  for (const name of ["one", "two"]) {
    expect(tokens.find(name)).toBeUndefined();
    tokens.add(name, read({ sub: name }), NOW);
  }
  expect(tokens.find("nobody")).toBeUndefined();
  tokens.add("three", read({ sub: "three" }), NOW);
  for (const name of ["one", "two", "three"]) expect(tokens.find(name)?.subject).toBe(subjectMark(name));
  expect(tokens.find("nobody")).toBeUndefined();
});

test("tokens are cached for as many signing keys as a row can identify, and not for later keys", () => {
  const tokens = open();
  for (let at = 0; at <= KEYS_MAX; at += 1) tokens.add(`token ${at}`, read({}, `key ${at}`), NOW);
  for (const at of [0, KEYS_MAX - 2, KEYS_MAX - 1])
    expect(tokens.find(`token ${at}`)).toMatchObject({
      kid: `key ${at}`,
      scopes: new Set(["governance:read"]),
    });
  expect(tokens.find(`token ${KEYS_MAX}`)).toBeUndefined();
  tokens.add("again", read({}, "key 0"), NOW);
  expect(tokens.find("again")?.kid).toBe("key 0");
});

test.each([
  [-1, false],
  [0, true],
  [LIFE_SECONDS_MAX - 1, true],
  [LIFE_SECONDS_MAX, true],
  [LIFE_SECONDS_MAX + 1, false],
])("a token that lives %i s is cached: %p", (seconds, isCached) => {
  const known = found({ exp: NOW + seconds });
  expect(known && [known.issuedAtSeconds, known.expiresAtSeconds]).toEqual(
    isCached ? [NOW, NOW + seconds] : undefined,
  );
});

test("a token with some of the scopes is cached with only those", () => {
  for (let bits = 1; bits < 2 ** USER_SCOPES.length; bits += 1) {
    const some = USER_SCOPES.filter((_scope, at) => (bits >>> at) & 1);
    expect(found({ scope: some.join(" ") })?.scopes).toEqual(new Set(some));
  }
});

test("a token with every scope is cached with them, and one with an unknown scope or grant is not", () => {
  expect(found({ scope: USER_SCOPES.join(" ") })?.scopes).toEqual(new Set(USER_SCOPES));
  expect(found({ scope: "governance:read other" })).toBeUndefined();
  expect(found({ grant_id: "no UUID" })).toBeUndefined();
});

test(`thousands of tokens take at most ${TOKEN_BYTES_MAX} bytes each`, () => {
  const tokens = open();
  const count = 5_000;
  for (let at = 0; at < count; at += 1) tokens.add(`token ${at}`, read(), NOW);
  expect(tokens.unexpiredAt(NOW)).toBe(count);
  expect(tokens.bytes / count).toBeLessThanOrEqual(TOKEN_BYTES_MAX);
});
