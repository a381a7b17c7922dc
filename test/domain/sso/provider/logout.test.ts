// Logout in both directions: the link that ends the session at the provider, and the checks of a logout token.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { PROVIDER_TOKEN_LENGTH_MAX } from "../../../../src/domain/sso/provider/tokens/token-checks.ts";
import type { Faults } from "../../../support/provider/faults.ts";
import { ADA, CLIENT_ID, createLyingProvider } from "../../../support/provider/lying-provider.ts";
import { refusalOf, relyingPartyOf } from "../../../support/provider/relying-party.ts";
import { createWorld } from "../../../support/world.ts";

const world = await createWorld();
const idp = await createLyingProvider({ nowMs: world.clock.nowMs });
afterAll(async () => {
  await idp[Symbol.asyncDispose]();
  await world.dispose();
});
beforeEach(() => {
  idp.faults = {};
  idp.requests.length = 0;
});

const relyingParty = (members = {}) => relyingPartyOf(idp, world, members);
const nowSeconds = () => Math.floor(world.clock.nowMs() / 1000);

describe("SSO-27 a logout token", () => {
  test("names the person, the session and its own id", async () => {
    const token = await idp.logoutToken({ sid: "session-1", jti: "token-1" });
    expect(await relyingParty().readLogoutToken(token)).toEqual({
      issuer: idp.issuer,
      subject: ADA.sub,
      providerSessionId: "session-1",
      tokenId: "token-1",
      issuedAtMs: nowSeconds() * 1000,
      expiresAtMs: (nowSeconds() + 360) * 1000,
    });
  });

  const ACCEPTED: Record<string, [claims: Record<string, unknown>, header: Record<string, unknown>]> = {
    "for a session only": [{ sub: undefined, sid: "session-1" }, {}],
    "for a person only": [{}, {}],
    "without type": [{}, { typ: undefined }],
    "of the plain type": [{}, { typ: "JWT" }],
    "of the full type": [{}, { typ: "application/logout+jwt" }],
    "without an expiry, as older providers send it": [{ exp: undefined }, {}],
    "that expired within the allowed clock difference": [{ exp: nowSeconds() - 59 }, {}],
  };
  test.each(Object.entries(ACCEPTED))("%s is accepted", async (_, [claims, header]) => {
    const token = await idp.logoutToken(claims, header);
    expect((await relyingParty().readLogoutToken(token)).issuer).toBe(idp.issuer);
  });

  const now = nowSeconds();
  const REFUSED: Record<
    string,
    [claims: Record<string, unknown>, header: Record<string, unknown>, reason: string]
  > = {
    "of another issuer": [{ iss: "https://other.example" }, {}, "token_issuer"],
    "for another client": [{ aud: "another" }, {}, "token_invalid"],
    "of another type": [{}, { typ: "at+jwt" }, "token_invalid"],
    "whose type is not text": [{}, { typ: 5 }, "token_invalid"],
    "whose id has control characters": [{ jti: "1\u001b[2J" }, {}, "token_invalid"],
    "whose session is half a character": [{ sid: "\ud800" }, {}, "token_invalid"],
    "without events": [{ events: undefined }, {}, "token_invalid"],
    "with another event": [{ events: { "https://example.com/other": {} } }, {}, "token_invalid"],
    "with an event that is not an object": [
      { events: { "http://schemas.openid.net/event/backchannel-logout": 1 } },
      {},
      "token_invalid",
    ],
    "with a nonce, as an ID token has": [{ nonce: "1" }, {}, "token_invalid"],
    "that names nobody": [{ sub: undefined }, {}, "token_invalid"],
    "whose subject is not text": [{ sub: 1 }, {}, "token_invalid"],
    "whose session is too long": [{ sid: "x".repeat(321) }, {}, "token_invalid"],
    "without id": [{ jti: undefined }, {}, "token_invalid"],
    "with an empty id": [{ jti: "" }, {}, "token_invalid"],
    "without time": [{ iat: undefined }, {}, "token_invalid"],
    "of the future": [{ iat: now + 61 }, {}, "clock"],
    "that expired": [{ exp: now - 60 }, {}, "clock"],
    "that is old, with any expiry": [{ iat: now - 660, exp: now + 3_600 }, {}, "clock"],
    "that is old and has no end": [{ iat: now - 660, exp: undefined }, {}, "clock"],
  };
  test.each(Object.entries(REFUSED))("%s is refused", async (_, [claims, header, reason]) => {
    const token = await idp.logoutToken(claims, header);
    const refusal = await refusalOf(relyingParty().readLogoutToken(token));
    expect(refusal).toBe(`upstream sso.${reason}`);
  });

  const SIGNATURES: NonNullable<Faults["signature"]>[] = ["foreign", "none", "hs256", "public_key_as_secret"];
  test.each(SIGNATURES)("refuses a logout token with the signature %s", async (signature) => {
    const provider = relyingParty();
    await provider.readLogoutToken(await idp.logoutToken());
    idp.faults = { signature };
    const token = await idp.logoutToken();
    expect(await refusalOf(provider.readLogoutToken(token))).toBe("upstream sso.token_invalid");
  });

  const lengths = [-1, 0, 1].map((more) => "x".repeat(PROVIDER_TOKEN_LENGTH_MAX + more));
  test.each(["", "x", "a.b.c", ...lengths])(
    "refuses a text that is not a token, unread if it is long",
    async (token) => {
      const work = relyingParty().readLogoutToken(token);
      expect(await refusalOf(work)).toBe("upstream sso.token_invalid");
      const isLong = token.length > PROVIDER_TOKEN_LENGTH_MAX;
      const cause = await work.catch((error) => error.cause);
      expect(cause === "the token is too long").toBe(isLong);
    },
  );

  test("does not delay the keys of a sign-in because of an unknown key", async () => {
    const provider = relyingParty();
    await provider.readLogoutToken(await idp.logoutToken());
    idp.faults = { header: { kid: "unknown" } };
    const redirectUri = "https://control.example.com/api/auth/callback/oidc";
    expect(await refusalOf(provider.readLogoutToken(await idp.logoutToken()))).toBe(
      "upstream sso.token_invalid",
    );
    idp.faults = {};
    idp.keys.rotate();
    const { url, attempt } = await provider.begin({ redirectUri });
    const query = await idp.authorize(url);
    expect(await provider.complete({ redirectUri, query, attempt })).toMatchObject(ADA);
  });
});

describe("SSO-26 the link that ends the session at the provider", () => {
  const postLogoutRedirectUri = "https://control.example.com/signed-out";

  test("names client, person and the return address", async () => {
    const link = await relyingParty().endSessionUrl({ postLogoutRedirectUri, loginHint: ADA.email });
    expect(link).toStartWith(`${idp.issuer}/logout?`);
    expect(Object.fromEntries(new URL(link ?? "").searchParams)).toEqual({
      client_id: CLIENT_ID,
      post_logout_redirect_uri: postLogoutRedirectUri,
      logout_hint: ADA.email,
    });
  });

  test("does not exist where the provider has no such endpoint", async () => {
    await using other = await createLyingProvider({
      faults: { metadata: { end_session_endpoint: undefined } },
    });
    expect(await relyingPartyOf(other, world).endSessionUrl({ postLogoutRedirectUri })).toBeUndefined();
  });
});
