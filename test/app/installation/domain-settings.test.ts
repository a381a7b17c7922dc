// Settings of the domain that a reload may replace: whether users can sign in at an identity provider.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { domainSettingsOf } from "../../../src/app/installation/domain-settings.ts";
import { ssoSettingsOf } from "../../../src/app/installation/sso-settings.ts";
import type { SsoSettings } from "../../../src/domain/sso/settings.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";

test("a provider that a reload adds or removes takes effect immediately", () => {
  const folder = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  try {
    const path = join(folder, "quartermaster.yaml");
    const oidc = { issuer: "https://id.example.org", client_id: "qm", client_secret: "s" };
    writeFileSync(path, JSON.stringify({ identity: { oidc } }), { mode: 0o600 });
    const config = loadConfig({ flags: { config: path }, env: {}, cwd: folder });
    const sso: { settings: SsoSettings | undefined } = { settings: undefined };
    const baseUrl = () => "https://qm.example.org";
    const { identity } = domainSettingsOf(config, { baseUrl, roles: { mappings: {} }, sso });
    expect(identity.hasProvider).toBe(false);
    sso.settings = ssoSettingsOf(config);
    expect(identity.hasProvider).toBe(true);
    sso.settings = undefined;
    expect(identity.hasProvider).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
