// What a provider sends back through the browser, with each rule at its limit, and the origins in its documents.
import { expect, test } from "bun:test";
import {
  authorizationParameters,
  LOGIN_HINT_LENGTH_MAX,
  usableHint,
} from "../../../../src/domain/sso/provider/client/authorization.ts";
import { CODE_LENGTH_MAX, readCode } from "../../../../src/domain/sso/provider/client/callback.ts";
import { knownDestinations } from "../../../../src/domain/sso/provider/discovery/destinations.ts";
import { readMetadata } from "../../../../src/domain/sso/provider/discovery/metadata.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { SETTINGS } from "../../../support/provider/lying-provider.ts";

const ISSUER = "https://id.example.org";

/** @returns the code, or the reason of the refusal */
function outcomeOf(query: string, namesIssuer = false): unknown {
  try {
    return readCode(new URLSearchParams(query), "s", { issuer: ISSUER, namesIssuer });
  } catch (error) {
    return error instanceof DomainError ? error.reason : error;
  }
}

test.each([
  ["state=s&code=c", "c"],
  [`state=s&code=c&iss=${ISSUER}`, "c"],
  ["state=s&code=%20~!", " ~!"],
  ["state=other&code=c", "sso.state"],
  ["code=c", "sso.state"],
  ["state=s", "sso.state"],
  ["state=s&code=", "sso.state"],
  ["state=s&state=s&code=c", "sso.state"],
  ["state=s&code=c&code=c", "sso.state"],
  [`state=s&code=c&iss=${ISSUER}/`, "sso.callback_issuer"],
  ["state=s&code=c&iss=", "sso.callback_issuer"],
  ["state=s&error=access_denied", "sso.cancelled"],
  ["state=s&error=access_denied&code=c", "sso.cancelled"],
  ["state=s&error=login_required&error_description=d", "sso.interaction_required"],
  ["state=s&error=toString", "sso.callback_error"],
  ["state=s&error=", "sso.callback_error"],
  ["state=s&error=server_error", "sso.callback_error"],
  ["state=s&code=%0a", "sso.code_rejected"],
  ["state=s&code=%c3%a4", "sso.code_rejected"],
])("%s gives %s", (query, outcome) => {
  expect(outcomeOf(query)).toBe(outcome);
});

test.each([-1, 0, 1])("a code of %d characters more than the maximum", (more) => {
  const code = "c".repeat(CODE_LENGTH_MAX + more);
  expect(outcomeOf(`state=s&code=${code}`)).toBe(more > 0 ? "sso.code_rejected" : code);
});

test("a provider that names its issuer must do so in every response", () => {
  const responses = ["", `&iss=${ISSUER}`, "&iss=other"].map((iss) =>
    outcomeOf(`state=s&code=c${iss}`, true),
  );
  expect(responses).toEqual(["sso.callback_issuer", "c", "sso.callback_issuer"]);
});

test.each([
  [undefined, undefined],
  ["error_description", "server_error: why"],
])("the cause of an error contains the description, if present: %p", (name, cause = "server_error") => {
  const query = new URLSearchParams({ state: "s", error: "server_error", ...(name && { [name]: "why" }) });
  const read = () => readCode(query, "s", { issuer: ISSUER, namesIssuer: false });
  expect(read).toThrow(expect.objectContaining({ cause }));
});

test.each([
  ["ada@example.org", true],
  ["", false],
  ["a\nb", false],
  ["x".repeat(LOGIN_HINT_LENGTH_MAX), true],
  ["x".repeat(LOGIN_HINT_LENGTH_MAX + 1), false],
  [undefined, false],
])("the hint %p is passed on: %p", (hint, isUsable) => {
  expect(usableHint(hint)).toBe(isUsable ? hint : undefined);
});

test.each([
  [{}, {}, {}],
  [{ maxAgeSeconds: 60, requireAcr: ["one"] }, {}, { max_age: "60", acr_values: "one" }],
  [
    { maxAgeSeconds: 60, requireAcr: ["one", "two"] },
    { isForced: true },
    { max_age: "0", prompt: "login", acr_values: "one two" },
  ],
  [{}, { isForced: true }, { max_age: "0", prompt: "login" }],
  [
    { extraScopes: ["groups", "email"] },
    { loginHint: "ada" },
    { scope: "openid profile email groups", login_hint: "ada" },
  ],
])("settings %j and a request %j ask for %j", (settings, request, more) => {
  const attempt = { state: "s", nonce: "n", verifier: "v" };
  const own = { redirectUri: "https://here.example.org/back", attempt, challenge: "c" };
  expect(authorizationParameters({ ...SETTINGS, ...settings }, { ...own, ...request })).toEqual({
    redirect_uri: own.redirectUri,
    scope: "openid profile email",
    state: "s",
    nonce: "n",
    code_challenge: "c",
    code_challenge_method: "S256",
    ...more,
  });
});

test("the origins of a provider come from its current document, from the first query on", () => {
  const endpoints = { authorization_endpoint: `${ISSUER}/a`, jwks_uri: `${ISSUER}/keys` };
  const documentOf = (host: string) =>
    readMetadata({ issuer: ISSUER, ...endpoints, token_endpoint: `https://${host}/token` }, ISSUER);
  let current: ReturnType<typeof documentOf> | undefined;
  const destinations = knownDestinations(ISSUER, () => current);
  const origins = () => destinations().map(({ origin }) => origin);
  expect(origins()).toEqual([ISSUER]);
  for (const host of ["one.example.org", "two.example.org", "two.example.org"]) {
    current = documentOf(host);
    expect(origins()).toEqual([ISSUER, `https://${host}`]);
  }
});
