// Finding the endpoints of a provider: what is accepted, what is cached, and what happens while the provider does not respond or
// responds wrongly.
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  METADATA_DOUBTED_MS,
  METADATA_FRESH_MS,
} from "../../../../src/domain/sso/provider/discovery/discovery.ts";
import {
  ENDPOINT_LENGTH_MAX,
  LIST_MAX,
  readMetadata,
} from "../../../../src/domain/sso/provider/discovery/metadata.ts";
import { Provider } from "../../../../src/domain/sso/provider/provider.ts";
import { storedMetadataOf } from "../../../../src/domain/sso/provider/provider-records.ts";
import { RESPONSE_BYTES_MAX } from "../../../../src/domain/sso/provider/provider-requests.ts";
import { findProvider } from "../../../../src/domain/sso/provider/provider-store.ts";
import type { SsoSettings } from "../../../../src/domain/sso/settings.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import type { ResponseFault } from "../../../support/provider/faults.ts";
import { ADA, createLyingProvider } from "../../../support/provider/lying-provider.ts";
import {
  createRelyingParty,
  REDIRECT_URI,
  refusalOf,
  relyingPartyOf,
} from "../../../support/provider/relying-party.ts";
import { createWorld, type World } from "../../../support/world.ts";

const idp = await createLyingProvider();
afterAll(() => idp[Symbol.asyncDispose]());

let world: World;
beforeEach(async () => {
  world = await createWorld({ startMs: Date.now() });
  idp.faults = {};
  idp.requests.length = 0;
});
afterEach(() => world.dispose());

const DISCOVERY = "GET /.well-known/openid-configuration";
const discoveries = () => idp.requests.filter((request) => request === DISCOVERY).length;
const relyingParty = (members: Partial<SsoSettings> = {}) => relyingPartyOf(idp, world, members);
const begin = (provider = relyingParty()) => provider.begin({ redirectUri: REDIRECT_URI });

test.each([
  [0, { token: "missing" }, "upstream sso.provider_invalid"],
  [1, { token: "missing" }, "upstream sso.provider_invalid"],
  [1, { token: "down" }, "unavailable sso.provider_unreachable"],
  [1, { tokenError: "not_found" }, "upstream sso.provider_error"],
] as const)(
  "SSO-44 a document with which a sign-in failed is fetched again after METADATA_DOUBTED_MS + %d ms: %j",
  async (more, faults, refusal) => {
    const provider = relyingParty();
    const { url, attempt } = await begin(provider);
    const query = await idp.authorize(url);
    world.clock.advance(METADATA_DOUBTED_MS + more);
    idp.faults = faults;
    const completing = provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
    expect(await refusalOf(completing)).toBe(refusal);
    const untilMs = performance.now() + 2_000;
    while (more > 0 && discoveries() < 2 && performance.now() < untilMs) await Bun.sleep(5);
    expect(discoveries()).toBe(1 + more);
  },
);

describe("SSO-44 a provider that responds wrongly", () => {
  const FAULTS: Record<ResponseFault, string> = {
    down: "unavailable sso.provider_unreachable",
    reset: "unavailable sso.provider_unreachable",
    html: "upstream sso.provider_invalid",
    huge: "upstream sso.provider_invalid",
    redirect: "upstream sso.provider_invalid",
    garbage: "upstream sso.provider_invalid",
    list: "upstream sso.provider_invalid",
    empty: "upstream sso.provider_invalid",
    unauthorized: "upstream sso.provider_invalid",
    missing: "upstream sso.provider_invalid",
    stall: "unavailable sso.provider_unreachable",
    silent: "unavailable sso.provider_unreachable",
  };
  test.each(Object.entries(FAULTS))("%s", async (fault, refusal) => {
    idp.faults = { discovery: fault as ResponseFault };
    const settings = idp.settings();
    const isHanging = fault === "stall" || fault === "silent";
    const provider = createRelyingParty(world, () => settings, isHanging ? 50 : undefined);
    expect(await refusalOf(begin(provider))).toBe(refusal);
    expect(provider.record()?.lastErrorReason).toBe(refusal.split(" ")[1] ?? "");
  });

  test("a response of the maximum size, and one with one more byte", async () => {
    const response = await fetch(`${idp.issuer}/.well-known/openid-configuration`);
    const room = RESPONSE_BYTES_MAX - (await response.text()).length - ',"padding":""'.length;
    idp.faults = { metadata: { padding: "x".repeat(room + 1) } };
    expect(await refusalOf(begin())).toBe("upstream sso.provider_invalid");
    idp.faults = { metadata: { padding: "x".repeat(room) } };
    expect((await begin()).url).toStartWith(idp.issuer);
  });

  test.each([-1, 0, 1])("lists are read up to the limit, with %i more entries", async (step) => {
    const document = await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json();
    const methods = Array.from({ length: LIST_MAX + step }, (_, at) => `method-${at}`);
    const { clientMethods } = readMetadata(
      { ...document, token_endpoint_auth_methods_supported: methods },
      idp.issuer,
    );
    expect(clientMethods).toEqual(methods.slice(0, LIST_MAX));
  });

  test("is asked immediately by an operator, after any failure", async () => {
    const provider = relyingParty();
    idp.faults = { discovery: "down" };
    await refusalOf(begin(provider));
    idp.faults = {};
    expect((await provider.connection().discovery.reload()).issuer).toBe(idp.issuer);
    expect((await begin(provider)).url).toStartWith(idp.issuer);
  });

  test("is not remembered longer when the clock is set back", async () => {
    const provider = relyingParty();
    idp.faults = { discovery: "down" };
    await refusalOf(begin(provider));
    idp.faults = {};
    world.clock.advance(-3_600_000);
    expect((await begin(provider)).url).toStartWith(idp.issuer);
  });

  test("another issuer", async () => {
    for (const issuer of [
      "https://other.example",
      `${idp.issuer}/`,
      idp.issuer.toUpperCase(),
      undefined,
      1,
    ]) {
      idp.faults = { metadata: { issuer } };
      expect(await refusalOf(begin())).toBe("upstream sso.provider_invalid");
    }
  });

  test("nobody listens", async () => {
    const gone = await createLyingProvider();
    const provider = relyingPartyOf(gone, world, { issuer: gone.issuer });
    await gone[Symbol.asyncDispose]();
    expect(await refusalOf(begin(provider))).toBe("unavailable sso.provider_unreachable");
  });

  test("is asked again only ten seconds later, and once for all waiting callers", async () => {
    idp.faults = { discovery: "down" };
    const provider = relyingParty();
    const [first, second] = [refusalOf(begin(provider)), refusalOf(begin(provider))];
    expect([await first, await second, discoveries()]).toEqual([
      "unavailable sso.provider_unreachable",
      "unavailable sso.provider_unreachable",
      1,
    ]);
    idp.faults = {};
    world.clock.advance(9_999);
    expect(await refusalOf(begin(provider))).toBe("unavailable sso.provider_unreachable");
    world.clock.advance(1);
    expect((await begin(provider)).url).toStartWith(idp.issuer);
    expect(discoveries()).toBe(2);
  });

  test("signs people in for a day with the known document", async () => {
    await begin();
    idp.faults = { discovery: "down" };
    world.clock.advance(24 * 3_600_000);
    const provider = relyingParty(); // as after a restart
    expect((await begin(provider)).url).toStartWith(idp.issuer);
    await Bun.sleep(1); // the document is fetched in the background
    world.clock.advance(1);
    expect(await refusalOf(begin(provider))).toBe("unavailable sso.provider_unreachable");
  });

  test("is asked again after an hour, and not before", async () => {
    const provider = relyingParty();
    await begin(provider);
    world.clock.advance(METADATA_FRESH_MS);
    await begin(provider);
    await fetch(`${idp.issuer}/jwks`); // a background request would have arrived before this one
    expect(discoveries()).toBe(1);
    world.clock.advance(1);
    await begin(provider);
    while (discoveries() < 2) await Bun.sleep(1);
  });

  test("is no longer used after a wrong response", async () => {
    const provider = relyingParty();
    await begin(provider);
    idp.faults = { metadata: { issuer: "https://other.example" } };
    world.clock.advance(3_600_001);
    await begin(provider);
    const isBelieved = () => begin(provider).then(Boolean, () => false);
    while (await isBelieved()) await Bun.sleep(1); // until the response of the background request has been read
    expect(await refusalOf(begin(provider))).toBe("upstream sso.provider_invalid");
  });

  test("is recorded, also shortly after another failure, and cleared by a success", async () => {
    const provider = relyingParty();
    idp.faults = { discovery: "down" };
    const failed = async () => {
      await refusalOf(begin(provider));
      return provider.record()?.lastErrorReason;
    };
    expect(await failed()).toBe("sso.provider_unreachable");
    world.clock.advance(9_999);
    idp.faults = { discovery: "html" };
    expect(await failed()).toBe("sso.provider_unreachable"); // the provider is not contacted again yet
    world.clock.advance(1);
    expect(await failed()).toBe("sso.provider_invalid");
    world.clock.advance(10_000);
    idp.faults = {};
    const { url, attempt } = await begin(provider);
    const query = await idp.authorize(url);
    await provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
    expect(provider.record()?.lastErrorReason).toBe("sso.provider_invalid"); // no sign-in has happened yet
    await provider.noteSuccess();
    expect(provider.record()?.lastErrorReason).toBeNull();
    expect(provider.record()?.lastSuccessAtMs).toBe(world.clock.nowMs());
  });

  test("SSO-44 records another refusal immediately, and the same one with one write in ten seconds", async () => {
    const provider = relyingParty();
    const refusedAt = async (reason: string) => {
      await provider.noteRefusal(reason);
      const record = findProvider(world.db.read, idp.issuer);
      return [record?.lastErrorReason, record?.lastErrorAtMs];
    };
    const startMs = world.clock.nowMs();
    expect(await refusedAt("sso.first")).toEqual(["sso.first", startMs]);
    world.clock.advance(9_999);
    expect(await refusedAt("sso.first")).toEqual(["sso.first", startMs]);
    expect(await refusedAt("sso.second")).toEqual(["sso.second", startMs + 9_999]);
    world.clock.advance(10_000);
    expect(await refusedAt("sso.second")).toEqual(["sso.second", startMs + 19_999]);
  });

  test("SSO-44 records a refusal shortly after a success that cleared the same one", async () => {
    const provider = relyingParty();
    await provider.noteRefusal("sso.first");
    await provider.noteSuccess();
    await provider.noteRefusal("sso.first");
    expect(provider.record()?.lastErrorReason).toBe("sso.first");
  });

  test("records a success immediately after a refusal", async () => {
    const provider = relyingParty();
    await provider.noteSuccess();
    await provider.noteRefusal("sso.not_allowed");
    await provider.noteSuccess();
    expect(provider.record()?.lastErrorReason).toBeNull();
  });

  test("records a success with one write per minute", async () => {
    const provider = relyingParty();
    const succeeded = async () => {
      await provider.noteSuccess();
      return provider.record()?.lastSuccessAtMs;
    };
    const firstMs = world.clock.nowMs();
    expect(await succeeded()).toBe(firstMs);
    world.clock.advance(59_999);
    expect(await succeeded()).toBe(firstMs);
    world.clock.advance(1);
    expect(await succeeded()).toBe(firstMs + 60_000);
  });
});

const endpointOf = (length: number): string => "https://idp.example/".padEnd(length, "x");

describe("SSO-42 endpoints", () => {
  const REFUSED: Record<string, unknown> = {
    "on http": "http://idp.example/token",
    "of another scheme": "ftp://idp.example/token",
    "that are not URLs": "/token",
    "that are not texts": 1,
    "with credentials": "https://user:secret@idp.example/token",
    "with a name": "https://user@idp.example/token",
    "with a secret": "https://:secret@idp.example/token",
    "with a fragment": "https://idp.example/token#x",
    "at a link-local address": "https://169.254.169.254/token",
    "at a link-local address in another spelling": "https://0xa9fea9fe/token",
    "at a mapped link-local address": "https://[::ffff:169.254.169.254]/token",
    "at a link-local IPv6 address": "https://[fe80::1]/token",
    "at the metadata address of IPv6": "https://[fd00:ec2::254]/token",
    "that are too long": endpointOf(ENDPOINT_LENGTH_MAX + 1),
  };
  const NAMES = ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"];

  test.each(Object.entries(REFUSED))("%s are refused", async (_, endpoint) => {
    for (const name of NAMES) {
      idp.faults = { metadata: { [name]: endpoint } };
      expect(await refusalOf(begin(relyingPartyOf(idp, world)))).toBe("upstream sso.provider_invalid");
    }
  });

  test.each(["authorization_endpoint", "token_endpoint", "jwks_uri"])("%s is needed", async (name) => {
    idp.faults = { metadata: { [name]: undefined } };
    expect(await refusalOf(begin())).toBe("upstream sso.provider_invalid");
  });

  test.each([ENDPOINT_LENGTH_MAX - 1, ENDPOINT_LENGTH_MAX])(
    "accepts endpoints of %d characters",
    async (length) => {
      idp.faults = { metadata: { userinfo_endpoint: endpointOf(length) } };
      expect((await begin()).url).toStartWith(idp.issuer);
    },
  );

  test("accepts endpoints at private addresses", async () => {
    idp.faults = {
      metadata: { token_endpoint: "https://10.0.0.1/token", jwks_uri: "https://[fd00::1]/keys" },
    };
    expect((await begin()).url).toStartWith(idp.issuer);
  });

  test("accepts an http endpoint on this machine only with an http issuer", async () => {
    const settings = idp.settings({ issuer: "https://idp.example" });
    const answer = async () =>
      Response.json({
        ...(await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json()),
        issuer: settings.issuer,
      });
    const provider = new Provider({
      ...world,
      outbound: { ...createOutbound({ allowed: [] }), fetch: answer },
      settings: () => settings,
    });
    expect(await refusalOf(begin(provider))).toBe("upstream sso.provider_invalid");
  });

  test("gives a command the last known endpoints, without a request", async () => {
    expect(storedMetadataOf(world.db.read, idp.issuer)).toBeUndefined();
    await begin();
    expect(storedMetadataOf(world.db.read, idp.issuer)?.issuer).toBe(idp.issuer);
    expect(storedMetadataOf(world.db.read, "https://other.example")).toBeUndefined();
  });

  test("become destinations once each, and remain known to the next process", async () => {
    const other = `http://localhost:${new URL(idp.issuer).port}`;
    idp.faults = { metadata: { token_endpoint: `${other}/token`, userinfo_endpoint: `${other}/userinfo` } };
    const named = (provider = relyingParty()) =>
      provider.destinations().map(({ name, origin }) => `${name} ${origin}`);
    expect(named()).toEqual([`identity-provider ${idp.origin}`]);
    const provider = relyingParty();
    const { url, attempt } = await begin(provider);
    expect(named()).toEqual([`identity-provider ${idp.origin}`, `identity-provider-token ${other}`]);
    const query = await idp.authorize(url);
    expect(await provider.complete({ redirectUri: REDIRECT_URI, query, attempt })).toMatchObject(ADA);
  });
});

test("SSO-42 the path of an issuer is kept, with or without a slash at its end", async () => {
  for (const path of ["/tenant", "/tenant/"]) {
    await using tenant = await createLyingProvider({ path });
    await begin(relyingPartyOf(tenant, world));
    expect(tenant.requests).toEqual([DISCOVERY]);
  }
});

test("sends no request and lists nothing without a provider", async () => {
  const provider = createRelyingParty(world, () => undefined);
  expect(await refusalOf(begin(provider))).toBe("not_found sso.not_configured");
  expect([provider.destinations(), provider.record(), provider.keysAgeMs]).toEqual([
    [],
    undefined,
    undefined,
  ]);
});

test("a reload replaces the provider, and a running sign-in continues with the new settings", async () => {
  let settings = idp.settings();
  const provider = createRelyingParty(world, () => settings);
  const { url, attempt } = await begin(provider);
  const query = await idp.authorize(url);
  settings = idp.settings({ clientId: "renamed" });
  expect(new URL((await begin(provider)).url).searchParams.get("client_id")).toBe("renamed");
  const work = provider.complete({ redirectUri: REDIRECT_URI, query, attempt });
  expect(await refusalOf(work)).toBe("upstream sso.client_rejected");
});
