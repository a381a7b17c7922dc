// Metrics of company sign-in: each outcome has its label, failed requests are logged, and no label names a person.
import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { watchProviderKeys, watchSso } from "../../../src/app/service/metrics/sso-metrics.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { ADA, createLyingProvider } from "../../support/provider/lying-provider.ts";
import { createTestServer } from "../../support/server.ts";
import { createWorld } from "../../support/world.ts";

test("SSO-34 sign-ins and requests to the provider are counted by outcome, without naming anybody", async () => {
  await using idp = await createLyingProvider();
  const metrics = new Registry();
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLog({ level: "info", format: "json", write, clock: { nowMs: Date.now } });
  let settings = idp.settings({ provisioning: "jit", allowedDomains: ["example.com"] });
  const world = await createWorld({ startMs: Date.now() });
  await using site = await createTestServer({
    world,
    sso: () => settings,
    observeSso: watchSso({ metrics, log }),
    outbound: createOutbound({ allowed: [], found: () => site.domain.sso.provider.destinations() }),
  });
  await site.signedIn("admin");
  const { sso } = site.domain;
  watchProviderKeys(metrics, sso);
  const redirectUri = "https://control.example.com/api/auth/callback/oidc";
  const signIn = async () => {
    const { url, attempt } = await sso.provider.begin({ redirectUri });
    const claims = await sso.provider.complete({ redirectUri, query: await idp.authorize(url), attempt });
    await sso.admission.admit(sso.personIn(claims), { address: null, userAgent: null, startedMs: 0 });
  };
  const refused = () => signIn().catch(() => {});
  await signIn();
  idp.claims = { ...ADA, sub: "eve", email: "eve@evil.example" };
  await refused();
  idp.claims = { ...ADA, name: "x".repeat(321) };
  await refused();
  idp.faults = { callback: { code: undefined, error: "access_denied" } };
  await refused();
  idp.faults = { signature: "foreign" };
  await refused();
  settings = idp.settings({ credential: { method: "client_secret_basic", secret: new Secret("x") } });
  await refused();
  expect(() => sso.attempts.take(undefined, "unknown")).toThrow();
  const text = await metrics.metrics();
  const values = Object.fromEntries(
    [...text.matchAll(/^quartermaster_sso_(?:sign_ins|idp_requests)_total(\{.*\}) ([1-9]\d*)$/gm)].map(
      ([, labels = "", value]) => [labels, Number(value)],
    ),
  );
  expect(values).toEqual({
    '{outcome="signed_in"}': 1,
    '{outcome="sso.not_allowed"}': 1,
    '{outcome="sso.claims_invalid"}': 1,
    '{outcome="sso.cancelled"}': 1,
    '{outcome="sso.token_invalid"}': 1,
    '{outcome="sso.state"}': 1,
    '{outcome="sso.client_rejected"}': 1,
    '{endpoint="discovery",outcome="answered"}': 1,
    '{endpoint="keys",outcome="answered"}': 2,
    '{endpoint="token",outcome="answered"}': 4,
    '{endpoint="token",outcome="refused"}': 1,
  });
  expect(text).not.toMatch(/ada|eve|example\.com/);
  expect(lines).toEqual([
    expect.objectContaining({ event: "sso.request_failed", endpoint: "token", outcome: "refused" }),
  ]);
});

test("SSO-12 a list of groups that is too long is shown to operators until somebody signs in", async () => {
  await using idp = await createLyingProvider({ claims: { ...ADA, hasgroups: true } });
  const settings = idp.settings({ provisioning: "jit", allowedGroups: ["engineers"] });
  const world = await createWorld({ startMs: Date.now() });
  const outbound = createOutbound({ allowed: [], found: () => site.domain.sso.provider.destinations() });
  await using site = await createTestServer({ world, sso: () => settings, outbound });
  await site.signedIn("admin");
  const { sso } = site.domain;
  const redirectUri = "https://control.example.com/api/auth/callback/oidc";
  const signIn = async () => {
    const { url, attempt } = await sso.provider.begin({ redirectUri });
    const claims = await sso.provider.complete({ redirectUri, query: await idp.authorize(url), attempt });
    await sso.admission.admit(sso.personIn(claims), { address: null, userAgent: null, startedMs: 0 });
  };
  const shown = async () => {
    await site.world.db.write(() => {}); // waits behind writes that no caller awaits
    return sso.status().last_error_reason;
  };
  await expect(signIn()).rejects.toThrow("groups");
  expect(await shown()).toBe("sso.groups_overage");
  await expect(signIn()).rejects.toThrow("groups");
  expect(await shown()).toBe("sso.groups_overage");
  idp.claims = { ...ADA, groups: ["engineers"] };
  await signIn();
  expect(await shown()).toBeNull();
});
