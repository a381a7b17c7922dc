// The claims of access tokens, and that every forged or altered token is refused.
import { expect, test } from "bun:test";
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { USER_SCOPES } from "../../../../src/domain/access/wire.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { CLOCK_TOLERANCE_SECONDS, TOKEN_LENGTH_MAX } from "../../../../src/platform/crypto/signing.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { START_MS } from "../../../support/world.ts";
import { type AccessWorld, addGrant, BASE_URL, createAccessWorld, mintToken } from "../access-world.ts";

const NOW = START_MS / SECOND_MS;
const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString("base64url");

function read(world: AccessWorld, token: string): string {
  try {
    world.tokens.read(token);
    return "read";
  } catch (error) {
    return error instanceof DomainError ? error.reason : String(error);
  }
}

async function minted() {
  const world = await createAccessWorld();
  const grant = await addGrant(world);
  const token = mintToken(world, grant);
  return { world, grant, token, claims: decodeJwt(token), header: decodeProtectedHeader(token) };
}

test("a token has the claims that clients expect, with the type and key in its header", async () => {
  const { world, grant, header, claims } = await minted();
  await using _ = world;
  const { jti, ...rest } = claims;
  expect(jti).toMatch(/^[0-9a-f-]{36}$/);
  expect(rest).toEqual({
    iss: `${BASE_URL}/api/auth`,
    aud: BASE_URL,
    sub: world.user.subject,
    client_id: "blue-cli",
    azp: "blue-cli",
    scope: USER_SCOPES.join(" "),
    sid: grant.sid,
    email: "ada@example.com",
    org_id: world.organizationId,
    role: "member",
    iat: NOW,
    exp: NOW + 900,
    grant_id: grant.id,
  });
  expect(header).toEqual({ alg: "EdDSA", typ: "at+jwt", kid: world.keys.list()[0]?.kid ?? "" });
});

test("minting returns the lifetime of the token", async () => {
  await using world = await createAccessWorld();
  const grant = await addGrant(world);
  const request = { user: world.user, grant, scope: "governance:read", sid: grant.sid };
  const token = world.tokens.mint({ ...request, issuedAtMs: START_MS + 999 });
  expect(token).toMatchObject({ expiresAtSeconds: NOW + 900 });
});

test("a genuine token is read with the key that signed it", async () => {
  const { world, token, claims, header } = await minted();
  await using _ = world;
  const known = await world.tokens.read(token);
  expect<unknown>(known).toEqual({ claims, kid: header.kid });
});

/** Signs any claims with the active key, like a thief of the private key. */
const signed = (world: AccessWorld, claims: Readonly<Record<string, unknown>>): string =>
  world.keys.signer().sign(claims);

test.each([
  ["another issuer", { iss: "https://evil.example/api/auth" }],
  ["an issuer with a slash more", { iss: `${BASE_URL}/api/auth/` }],
  ["another audience", { aud: "https://other.example" }],
  ["an audience with a slash more", { aud: `${BASE_URL}/` }],
  ["an expiry that is text", { exp: String(NOW + 900) }],
  ["an issue time that is text", { iat: String(NOW) }],
  ["an issue time after the tolerance", { iat: NOW + CLOCK_TOLERANCE_SECONDS + 1 }],
  ["a start after the tolerance", { nbf: NOW + CLOCK_TOLERANCE_SECONDS + 1 }],
  ["a grant that is not text", { grant_id: 7 }],
  ["an empty grant", { grant_id: "" }],
  ["a scope that is a list", { scope: ["governance:read"] }],
])("a token of our key with %s is refused", async (_name, change) => {
  const { world, claims } = await minted();
  await using _ = world;
  expect(read(world, signed(world, { ...claims, ...change }))).toBe("access.token_invalid");
});

test.each([
  "iss",
  "aud",
  "sub",
  "client_id",
  "azp",
  "scope",
  "sid",
  "email",
  "org_id",
  "role",
  "iat",
  "exp",
  "jti",
  "grant_id",
])("a token of our key without %s is refused", async (claim) => {
  const { world, claims } = await minted();
  await using _ = world;
  const { [claim]: removed, ...rest } = claims;
  expect(removed).toBeDefined();
  expect(read(world, signed(world, rest))).toBe("access.token_invalid");
});

test("issue and start times are tolerated for exactly the tolerance", async () => {
  const { world, claims } = await minted();
  await using _ = world;
  const soon = NOW + CLOCK_TOLERANCE_SECONDS;
  expect(read(world, signed(world, { ...claims, iat: soon, nbf: soon }))).toBe("read");
});

test("an expired token is reported as expired only if everything else about it is valid", async () => {
  const { world, claims, token } = await minted();
  await using _ = world;
  const foreign = signed(world, { ...claims, aud: "https://other.example" });
  world.clock.advance((900 + CLOCK_TOLERANCE_SECONDS) * SECOND_MS - 1);
  expect(read(world, token)).toBe("read");
  world.clock.advance(1);
  expect(read(world, token)).toBe("access.token_expired");
  expect(read(world, foreign)).toBe("access.token_invalid");
});

interface Forgery {
  header: Record<string, unknown>;
  payload: string;
  publicKey: KeyObject;
  stranger: KeyObject;
  signature: string;
}

const jws = (header: unknown, payload: string, make: (input: string) => string): string => {
  const input = `${encode(header)}.${payload}`;
  return `${input}.${make(input)}`;
};
const withKey = (key: KeyObject) => (input: string) =>
  sign(null, Buffer.from(input), key).toString("base64url");
const withHmac = (secret: string | Buffer) => (input: string) =>
  createHmac("sha256", secret).update(input).digest("base64url");

const FORGERIES: Record<string, (genuine: Forgery) => string> = {
  "alg none without a signature": ({ header, payload }) => jws({ ...header, alg: "none" }, payload, () => ""),
  "alg NONE with the old signature": ({ header, payload, signature }) =>
    jws({ ...header, alg: "NONE" }, payload, () => signature),
  "HS256 with the public key in PEM as its secret": ({ header, payload, publicKey }) =>
    jws({ ...header, alg: "HS256" }, payload, withHmac(publicKey.export({ type: "spki", format: "pem" }))),
  "HS256 with the bytes of the public key as its secret": ({ header, payload, publicKey }) =>
    jws(
      { ...header, alg: "HS256" },
      payload,
      withHmac(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")),
    ),
  "an algorithm of the list that is not the key's": ({ header, payload, signature }) =>
    jws({ ...header, alg: "ES256" }, payload, () => signature),
  "another key under our key's id": ({ header, payload, stranger }) =>
    jws(header, payload, withKey(stranger)),
  "another key under its own id": ({ header, payload, stranger }) =>
    jws({ ...header, kid: "stranger" }, payload, withKey(stranger)),
  "another key that the header contains": ({ header, payload, stranger }) =>
    jws({ ...header, jwk: createPublicKey(stranger).export({ format: "jwk" }) }, payload, withKey(stranger)),
  "no key id": ({ header: { kid: _, ...header }, payload, signature }) =>
    jws(header, payload, () => signature),
  "a key id that is a number": ({ header, payload, signature }) =>
    jws({ ...header, kid: 7 }, payload, () => signature),
  "an empty signature": ({ header, payload }) => jws(header, payload, () => ""),
  "a signature of zeros": ({ header, payload }) =>
    jws(header, payload, () => Buffer.alloc(64).toString("base64url")),
  "a claim changed after signing": ({ header, payload, signature }) => {
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    return jws(header, encode({ ...claims, role: "admin" }), () => signature);
  },
  "nothing but dots": () => "..",
  "one part": () => "token",
  "five parts, as if encrypted": ({ payload }) => `${payload}.a.b.c.d`,
  "no text at all": () => "",
};

test.each(Object.keys(FORGERIES))("a token with %s is refused", async (name) => {
  const { world, token, header } = await minted();
  await using _ = world;
  const [, payload = "", signature = ""] = token.split(".");
  const [jwk] = world.keys.jwks().keys;
  const publicKey = createPublicKey({ key: { ...jwk }, format: "jwk" });
  const stranger = generateKeyPairSync("ed25519").privateKey;
  const forged =
    FORGERIES[name]?.({ header: { ...header }, payload, publicKey, stranger, signature }) ?? token;
  expect(read(world, forged)).toBe("access.token_invalid");
});

test.each([["JWT"], ["id+jwt"], [undefined]])(
  "a token of our key with the type %p is refused",
  async (typ) => {
    const { world, header, claims } = await minted();
    await using _ = world;
    const own = generateKeyPairSync("ed25519");
    const kid = "own";
    const jwk = { ...own.publicKey.export({ format: "jwk" }), kid, alg: "EdDSA", use: "sig" };
    await world.addPublicKey(jwk);
    const make = (type: unknown) =>
      jws({ ...header, kid, typ: type }, encode(claims), withKey(own.privateKey));
    expect(read(world, make("at+jwt"))).toBe("read");
    expect(read(world, make(typ))).toBe("access.token_invalid");
  },
);

test("keys of the other two algorithms verify once they are in the set", async () => {
  const { world, header, claims } = await minted();
  await using _ = world;
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await world.addPublicKey({
    ...rsa.publicKey.export({ format: "jwk" }),
    kid: "rsa",
    alg: "RS256",
    use: "sig",
  });
  await world.addPublicKey({
    ...ec.publicKey.export({ format: "jwk" }),
    kid: "ec",
    alg: "ES256",
    use: "sig",
  });
  const rs256 = (input: string) => sign("sha256", Buffer.from(input), rsa.privateKey).toString("base64url");
  const es256 = (input: string) =>
    sign("sha256", Buffer.from(input), { key: ec.privateKey, dsaEncoding: "ieee-p1363" }).toString(
      "base64url",
    );
  const payload = encode(claims);
  expect(read(world, jws({ ...header, alg: "RS256", kid: "rsa" }, payload, rs256))).toBe("read");
  expect(read(world, jws({ ...header, alg: "ES256", kid: "ec" }, payload, es256))).toBe("read");
  expect(read(world, jws({ ...header, alg: "RS256", kid: "ec" }, payload, rs256))).toBe(
    "access.token_invalid",
  );
});

test.each([
  ["below", -1, /Invalid Token/],
  ["at", 0, /Invalid Token/],
  ["above", 1, /too long/],
])("a token %s the length limit is refused with the right reason", async (_where, more, cause) => {
  await using world = await createAccessWorld();
  const refusal = await Promise.try(() => world.tokens.read("x".repeat(TOKEN_LENGTH_MAX + more))).catch(
    (error: Error) => error,
  );
  expect(refusal).toMatchObject({
    reason: "access.token_invalid",
    message: expect.stringContaining("sign in"),
  });
  expect(String(refusal instanceof Error && refusal.cause)).toMatch(cause);
});
