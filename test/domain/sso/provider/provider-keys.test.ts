// The provider's keys while tokens of a new key arrive together: all are verified, whichever token causes the fetch.
import { expect, test } from "bun:test";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { ProviderKeys } from "../../../../src/domain/sso/provider/tokens/provider-keys.ts";

interface Key {
  jwk: object;
  /** a token of this key, whose header has the key's id if it has one */
  token: string;
}

async function keyOf(kid?: string, claims: JWTPayload = {}): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const name = kid === undefined ? {} : { kid };
  const token = await new SignJWT(claims).setProtectedHeader({ alg: "ES256", ...name }).sign(privateKey);
  return { jwk: { ...(await exportJWK(publicKey)), ...name }, token };
}

test("a token that failed with the old keys is tried with the keys that another token has fetched", async () => {
  // A token without a key id is tried with every old key, which takes longer than fetching the new ones.
  const old = await Promise.all(Array.from({ length: 40 }, () => keyOf()));
  const [named, unnamed] = [await keyOf("new"), await keyOf()];
  const documents = [old, [named, unnamed]];
  let loads = 0;
  const keys = new ProviderKeys({ nowMs: () => 0 }, async () => {
    const document = documents[Math.min(loads, 1)] ?? [];
    loads += 1;
    return { keys: document.map(({ jwk }) => jwk) };
  });
  await keys.verify(old[0]?.token ?? "", {}, "sign_in");
  const results = await Promise.all([unnamed, named].map(({ token }) => keys.verify(token, {}, "sign_in")));
  expect(results).toHaveLength(2);
  expect(loads).toBe(2);
});

test.each(["RS384", "RS512", "PS384", "PS512", "ES384", "ES512"])(
  "SSO-22 a token that a published key signed with %s is refused",
  async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg);
    const jwk = { ...(await exportJWK(publicKey)), kid: "published" };
    const token = await new SignJWT({}).setProtectedHeader({ alg, kid: "published" }).sign(privateKey);
    const keys = new ProviderKeys({ nowMs: () => 0 }, async () => ({ keys: [jwk] }));
    await expect(keys.verify(token, {}, "sign_in")).rejects.toMatchObject({
      code: "ERR_JOSE_ALG_NOT_ALLOWED",
    });
  },
);

test("a wrong token of one of several keys without ids is refused, and no keys are fetched for it", async () => {
  const [expired, other] = [await keyOf(undefined, { exp: 1 }), await keyOf()];
  let loads = 0;
  const keys = new ProviderKeys({ nowMs: () => 0 }, async () => {
    loads += 1;
    return { keys: [other.jwk, expired.jwk] };
  });
  await expect(keys.verify(expired.token, {}, "sign_in")).rejects.toMatchObject({ code: "ERR_JWT_EXPIRED" });
  expect(loads).toBe(1);
});

test("keys have an age from when they were fetched", async () => {
  const { jwk, token } = await keyOf("one");
  let nowMs = 1_000;
  const keys = new ProviderKeys({ nowMs: () => nowMs }, async () => ({ keys: [jwk] }));
  expect(keys.ageMs).toBeUndefined();
  await keys.verify(token, {}, "sign_in");
  nowMs += 5;
  expect(keys.ageMs).toBe(5);
});

test("a failure to fetch keys is forgotten with the next success, also if the clock is set back", async () => {
  const [one, two] = [await keyOf("one"), await keyOf("two")];
  const responses = [{ keys: "none" }, { keys: [one.jwk] }, { keys: [two.jwk] }];
  let nowMs = 100_000;
  const keys = new ProviderKeys({ nowMs: () => nowMs }, async () => responses.shift());
  const kidOf = async ({ token }: Key) => (await keys.verify(token, {}, "sign_in")).protectedHeader.kid;
  await expect(kidOf(one)).rejects.toMatchObject({ reason: "sso.provider_invalid" });
  nowMs += 60_000;
  expect(await kidOf(one)).toBe("one");
  nowMs -= 60_000;
  expect(await kidOf(two)).toBe("two");
});

test("a failure to fetch keys is repeated for a while, unless they are requested again", async () => {
  const { jwk, token } = await keyOf("one");
  const responses = [{ keys: "none" }, { keys: [jwk] }];
  const keys = new ProviderKeys({ nowMs: () => 0 }, async () => responses.shift());
  for (let again = 0; again < 2; again += 1)
    await expect(keys.verify(token, {}, "sign_in")).rejects.toMatchObject({ reason: "sso.provider_invalid" });
  expect(await keys.reload()).toBe(1);
  expect((await keys.verify(token, {}, "sign_in")).protectedHeader.kid).toBe("one");
});
