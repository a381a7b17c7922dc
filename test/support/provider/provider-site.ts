// A server and the identity provider that it trusts, with browsers that go from one to the other.
import type { SsoSettings } from "../../../src/domain/sso/service.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { FormBrowser, type Page } from "../browser/form-browser.ts";
import { ADDRESS, createTestServer, type TestServer, type TestServerOptions } from "../server.ts";
import { createLyingProvider, type LyingProvider } from "./lying-provider.ts";

export const CALLBACK = "/api/auth/callback/oidc";

export interface ProviderSite extends TestServer {
  idp: LyingProvider;
  /** replaces settings, as a reload does; undefined removes the provider */
  configure(changes: Partial<SsoSettings> | undefined): void;
  browser(address?: string): FormBrowser;
}

/** @returns a server whose people sign in at a provider that immediately signs everybody in */
export async function createProviderSite(
  settings: Partial<SsoSettings> = {},
  options: TestServerOptions = {},
): Promise<ProviderSite> {
  const idp = await createLyingProvider({ nowMs: () => site.world.clock.nowMs() });
  let current: SsoSettings | undefined = idp.settings(settings);
  const outbound = createOutbound({ allowed: [], found: () => site.domain.sso.provider.destinations() });
  const site: TestServer = await createTestServer({
    hasConsole: false,
    ...options,
    outbound,
    sso: () => current,
  });
  return Object.assign(site, {
    idp,
    configure: (changes: Partial<SsoSettings> | undefined) => {
      current = changes && { ...idp.settings(settings), ...current, ...changes };
    },
    browser: (address = ADDRESS) =>
      new FormBrowser("http://localhost", (request) => site.server.handle(request, () => address)),
    [Symbol.asyncDispose]: async () => {
      await idp[Symbol.asyncDispose]();
      await site.world.dispose();
    },
  });
}

/** Follows the link to the provider. @returns the path and query with which the provider sends the browser back */
export async function leave({ idp }: ProviderSite, browser: FormBrowser, next?: string): Promise<string> {
  const query = next === undefined ? "" : `?callbackURL=${encodeURIComponent(next)}`;
  const response = await browser.request(`/login/oidc${query}`);
  const location = response.headers.get("location");
  if (response.status !== 303 || location === null)
    throw new Error(`${response.status}: ${await response.text()}`);
  return `${CALLBACK}?${await idp.authorize(location)}`;
}

/** Signs in at the provider and returns. */
export const signInAt = async (site: ProviderSite, browser: FormBrowser, next?: string): Promise<Page> =>
  browser.visit(await leave(site, browser, next));
