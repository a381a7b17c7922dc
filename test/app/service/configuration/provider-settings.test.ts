// Logs, audit entries and effects of a start and a reload with settings of the identity provider.
import { expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { ssoSettingsOf } from "../../../../src/app/installation/sso-settings.ts";
import {
  reloadProvider,
  startProvider,
} from "../../../../src/app/service/configuration/provider-settings.ts";
import { AuditLog } from "../../../../src/domain/audit/log.ts";
import { recordProviderChange } from "../../../../src/domain/sso/provider-change.ts";
import type { SsoSettings } from "../../../../src/domain/sso/settings.ts";
import { type Config, loadConfig } from "../../../../src/platform/config/config.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { createWorld } from "../../../support/world.ts";

const configOf = (secret: string, flags: Record<string, string> = {}): Config =>
  loadConfig({
    flags: { identityOidcIssuer: "https://idp.example", identityOidcClientId: "quartermaster", ...flags },
    env: { QUARTERMASTER_IDENTITY_OIDC_CLIENT_SECRET: secret },
    cwd: import.meta.dir,
  });

async function createSite(first: SsoSettings | undefined) {
  const world = await createWorld();
  let settings = first;
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: "info", format: "json", write, clock: world.clock });
  const auditLog = new AuditLog(world);
  const sealing = { mac: (text: string) => new Bun.CryptoHasher("sha256", "key").update(text).digest("hex") };
  const origin = () => "https://control.example.com";
  const sso = {
    settings: () => settings,
    recordChange: () => recordProviderChange({ ...world, auditLog, sealing, origin }, world.system, settings),
  };
  const installation = {
    domain: { sso },
    useSsoSettings: (fresh: SsoSettings | undefined) => {
      settings = fresh;
    },
  };
  const parts = { actor: world.system, log };
  return {
    directory: world.directory,
    start: () => startProvider(installation, parts),
    reload: (fresh: Config | undefined) => reloadProvider(installation, { ...parts, fresh }),
    current: () => settings,
    events: () => lines.splice(0).map((line) => JSON.parse(line)),
    changes: () => auditLog.list(world.organizationId, { action: "identity_provider.change" }).items,
    [Symbol.asyncDispose]: () => world.dispose(),
  };
}

test("a change of the provider is audited once, and without its secret", async () => {
  await using site = await createSite(ssoSettingsOf(configOf("first secret")));
  await site.start();
  await site.start();
  expect(site.events().map(({ event, changed }) => [event, changed])).toEqual([
    ["sso.provider", true],
    ["sso.provider", false],
  ]);
  await site.reload(configOf("second secret"));
  await site.reload(configOf("second secret"));
  expect(site.changes()).toHaveLength(2);
  expect(JSON.stringify(site.changes())).toContain("https://idp.example");
  expect(JSON.stringify([site.changes(), site.events()])).not.toMatch(/(?:first|second) secret/);
});

test("a reload applies new settings immediately, and keeps the object of unchanged ones", async () => {
  await using site = await createSite(ssoSettingsOf(configOf("secret")));
  const before = site.current();
  await site.reload(configOf("secret"));
  expect(site.current()).toBe(before);
  await site.reload(configOf("secret", { identityOidcAllowedDomains: "example.com" }));
  expect(site.current()?.allowedDomains).toEqual(["example.com"]);
});

test("a reload without an issuer removes the provider", async () => {
  await using site = await createSite(ssoSettingsOf(configOf("secret")));
  await site.start();
  await site.reload(loadConfig({ flags: {}, env: {}, cwd: import.meta.dir }));
  expect(site.current()).toBeUndefined();
  expect(site.events().at(-1)).toMatchObject({ event: "sso.no_provider", level: "warning" });
  expect(site.changes()[0]?.target).toBe("https://idp.example");
});

test("nothing is logged or audited without a provider", async () => {
  await using site = await createSite(undefined);
  await site.start();
  expect([site.events(), site.changes()]).toEqual([[], []]);
});

test("unusable settings are logged and change nothing", async () => {
  await using site = await createSite(ssoSettingsOf(configOf("secret")));
  const before = site.current();
  await site.reload(undefined); // logged by reloadSettings
  await site.reload(configOf("secret", { identityOidcCaFile: join(site.directory, "absent.pem") }));
  expect(site.current()).toBe(before);
  expect(site.events()).toEqual([
    expect.objectContaining({ event: "sso.settings_rejected", reason: "config.invalid" }),
    expect.objectContaining({ event: "sso.settings_problem", pointer: "/identity/oidc/ca_file" }),
  ]);
});

const pemOf = ({ privateKey }: { privateKey: KeyObject }): string =>
  privateKey.export({ type: "pkcs8", format: "pem" }).toString();

const KEYS: [name: string, pem: string, reason: string | undefined][] = [
  ["Ed25519", pemOf(generateKeyPairSync("ed25519")), undefined],
  ["P-256", pemOf(generateKeyPairSync("ec", { namedCurve: "P-256" })), undefined],
  ["P-384", pemOf(generateKeyPairSync("ec", { namedCurve: "P-384" })), "config.invalid"],
  ["a short RSA key", pemOf(generateKeyPairSync("rsa", { modulusLength: 1024 })), "config.invalid"],
  ["a text", "not a key", "config.invalid"],
];

test.each(KEYS)("a client key that is %s is checked at the start", (_, key, reason) => {
  const read = () => {
    try {
      ssoSettingsOf(
        loadConfig({
          flags: {
            identityOidcIssuer: "https://idp.example",
            identityOidcClientId: "quartermaster",
            identityOidcClientAuth: "private_key_jwt",
          },
          env: { QUARTERMASTER_IDENTITY_OIDC_CLIENT_KEY: key },
          cwd: import.meta.dir,
        }),
      );
      return undefined;
    } catch (error) {
      return error instanceof Error && "reason" in error ? error.reason : error;
    }
  };
  expect(read()).toBe(reason);
});
