// Verification of a signature with the key that jose selected earlier for the same header.
import { describe, expect, test } from "bun:test";
import { generateKeyPair, jwtVerify, SignJWT } from "jose";
import { KNOWN_HEADERS_MAX, KnownHeaders } from "../../../../src/domain/sso/provider/tokens/known-headers.ts";

const CLAIMS = { issuer: "https://idp.example", audience: "quartermaster" };
const HEADER = { kid: "key-1", typ: "JWT" };

async function signerOf(alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { modulusLength: 2048 });
  const sign = (claims = {}, header = {}) =>
    new SignJWT({ iss: CLAIMS.issuer, aud: CLAIMS.audience, sub: "ada-1", ...claims })
      .setProtectedHeader({ ...HEADER, ...header, alg })
      .sign(privateKey);
  return { publicKey, sign };
}

/** @returns headers that include the one of this signer */
async function knownOf({ publicKey, sign }: Awaited<ReturnType<typeof signerOf>>): Promise<KnownHeaders> {
  const token = await sign();
  const headers = new KnownHeaders();
  expect(headers.verified(token, CLAIMS)).toBeUndefined();
  headers.remember(token, (await jwtVerify(token, publicKey)).protectedHeader, publicKey);
  return headers;
}

describe.each(["RS256", "PS256", "ES256"])("SSO-22 a known header of %s", (alg) => {
  test("a token is verified", async () => {
    const signer = await signerOf(alg);
    const headers = await knownOf(signer);
    const verified = headers.verified(await signer.sign({ sub: "eve-1" }), CLAIMS);
    expect(verified).toMatchObject({ payload: { sub: "eve-1" }, protectedHeader: { ...HEADER, alg } });
  });

  test("claims are still checked", async () => {
    const signer = await signerOf(alg);
    const headers = await knownOf(signer);
    const refused = async (claims: object) => {
      const token = await signer.sign(claims);
      expect(() => headers.verified(token, CLAIMS)).toThrow();
    };
    await refused({ iss: "https://other.example" });
    await refused({ aud: "another" });
    await refused({ exp: 1 });
    await refused({ nbf: Date.now() });
  });

  test("jose decides about all tokens that this key did not sign", async () => {
    const signer = await signerOf(alg);
    const headers = await knownOf(signer);
    const [header = "", payload = "", signature = ""] = (await signer.sign()).split(".");
    const [, otherPayload = ""] = (await signer.sign({ sub: "eve-1" })).split(".");
    const foreign = await (await signerOf(alg)).sign();
    const undecided = [
      foreign,
      `${header}.${otherPayload}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}.${signature}!`,
      `${header}.${payload}`,
      header,
      "",
    ];
    for (const token of undecided) expect(headers.verified(token, CLAIMS)).toBeUndefined();
  });

  test("jose decides about every other header, for any key", async () => {
    const signer = await signerOf(alg);
    const headers = await knownOf(signer);
    const other = await signer.sign({}, { typ: "logout+jwt" });
    expect(headers.verified(other, CLAIMS)).toBeUndefined();
    expect(headers.verified(await signer.sign(), CLAIMS)).toBeDefined();
  });
});

test.each(["EdDSA", "ES384"])("SSO-22 a header of %s is not remembered", async (alg) => {
  const signer = await signerOf(alg);
  expect((await knownOf(signer)).verified(await signer.sign(), CLAIMS)).toBeUndefined();
});

test("SSO-22 a secret is not remembered as a key", async () => {
  const headers = new KnownHeaders();
  const { sign } = await signerOf("RS256");
  const token = await sign();
  headers.remember(token, { alg: "RS256" }, new Uint8Array(32));
  expect(headers.verified(token, CLAIMS)).toBeUndefined();
});

test.each([-1, 0, 1])("a header is remembered up to the limit %d", async (more) => {
  const { publicKey, sign } = await signerOf("ES256");
  const headers = new KnownHeaders();
  let last = "";
  for (let number = 0; number < KNOWN_HEADERS_MAX + more; number++) {
    last = await sign({}, { kid: String(number) });
    headers.remember(last, { alg: "ES256" }, publicKey);
  }
  expect(headers.verified(last, CLAIMS) !== undefined).toBe(more <= 0);
});
