// `bun run test:keycloak`: signs people in at a real Keycloak, through its form: groups give roles, the first sign-in with a new
// signing key works, a logout at Keycloak ends the session of the service, and a disabled user cannot sign in. Needs Java 17 and,
// unless $KEYCLOAK_HOME has Keycloak 26.3.5, Maven with a repository that has it. It takes minutes, which is why `bun run test`
// leaves it out.
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { isJsonObject } from "../../src/platform/json/json-object.ts";
import { FormBrowser } from "../support/browser/form-browser.ts";
import { freePort } from "../support/network/free-port.ts";
import { expectEqual, prove } from "../support/proof.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { CLIENT, type Keycloak, keycloakHome, startKeycloak } from "./keycloak.ts";

const LOGOUT_LIMIT_MS = 10_000;
const CHECK_EVERY_MS = 100;
const PEOPLE = [
  { username: "ada", group: "platform" },
  { username: "bob", group: "staff" },
  { username: "mallory" },
];

interface Site {
  service: RunningService;
  keycloak: Keycloak;
}

async function main(): Promise<void> {
  const home = keycloakHome();
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-keycloak-"));
  const port = freePort();
  await using service = await startOurs(folder.path, `http://127.0.0.1:${port}/realms/company`);
  await using keycloak = await startKeycloak({
    home,
    folder: join(folder.path, "keycloak"),
    port,
    serviceUrl: service.baseUrl,
    people: PEOPLE,
  });
  const site: Site = { service, keycloak };
  await proveGroups(site);
  await proveForced(site);
  await proveRotation(site);
  await proveLogout(site);
  await proveDisabled(site);
}

async function startOurs(folder: string, issuer: string): Promise<RunningService> {
  build({ directory: join(folder, "bin") });
  const secret = join(folder, "client-secret");
  writeFileSync(secret, CLIENT.secret, { mode: 0o600 });
  const provider = ["--identity-oidc-issuer", issuer, "--identity-oidc-client-id", CLIENT.id];
  const rules = ["--identity-oidc-provisioning", "jit", "--identity-oidc-allowed-groups", "platform,staff"];
  return await startService({
    command: [join(folder, "bin/quartermaster")],
    args: [
      ...["--data-dir", join(folder, "data"), "--identity-oidc-client-secret-file", secret],
      ...[...provider, ...rules, "--identity-oidc-group-role-mappings", '{"platform":"admin"}'],
    ],
  });
}

async function proveGroups(site: Site): Promise<void> {
  for (const [username, role] of [
    ["ada", "admin"],
    ["bob", "member"],
  ] as const) {
    const person = await personIn(await signIn(site, username));
    expectEqual(`${username} signs in with the role of the group`, person, {
      email: `${username}@example.com`,
      role,
    });
  }
  // Keycloak omits the claim for a person without groups, so the list is unknown.
  const { last } = await arrive(site, "mallory");
  expectEqual("who is in no allowed group is refused", last.status, 403);
}

/** Before a sensitive change the person logs on again, and the token must say when. */
async function proveForced(site: Site): Promise<void> {
  const browser = await signIn(site, "ada");
  const way = await site.keycloak.signIn(await leave(browser, "?prompt=login"), "ada");
  const callback = "callback" in way ? way.callback.slice(site.service.baseUrl.length) : "";
  expectEqual("a forced log-on confirms who it is", (await browser.request(callback)).status, 303);
}

/** The new key is active immediately; the service has cached the former keys. */
async function proveRotation(site: Site): Promise<void> {
  const { admin } = site.keycloak;
  const before = await activeKey(site);
  await admin("POST", "/components", {
    name: "newer",
    providerId: "rsa-generated",
    providerType: "org.keycloak.keys.KeyProvider",
    config: { priority: ["1000"], enabled: ["true"], active: ["true"], algorithm: ["RS256"] },
  });
  expectEqual("Keycloak signs with another key", (await activeKey(site)) === before, false);
  const { email } = await personIn(await signIn(site, "bob"));
  expectEqual("the first sign-in after it works", email, "bob@example.com");
}

async function proveLogout(site: Site): Promise<void> {
  const logOut = async () => site.keycloak.admin("POST", `/users/${await idOf(site, "ada")}/logout`);
  await logOut(); // Keycloak announces the end of only one of several sessions
  const browser = await signIn(site, "ada");
  await logOut();
  const deadline = performance.now() + LOGOUT_LIMIT_MS;
  while ((await browser.request("/auth/me")).status !== 401) {
    if (performance.now() > deadline) throw new Error("the logout at Keycloak did not end the session");
    await Bun.sleep(CHECK_EVERY_MS);
  }
  expectEqual("a logout at Keycloak ends the session", true, true);
}

async function proveDisabled(site: Site): Promise<void> {
  const id = await idOf(site, "ada");
  await site.keycloak.admin("PUT", `/users/${id}`, { enabled: false });
  const way = await site.keycloak.signIn(await leave(newBrowser(site)), "ada");
  const isRefused = "refusal" in way && way.refusal.includes("Account is disabled");
  expectEqual("a disabled user is refused", isRefused, true);
}

const newBrowser = ({ service }: Site) => new FormBrowser(service.baseUrl, (request) => fetch(request));

/** @returns where the service's link to the provider leads */
async function leave(browser: FormBrowser, query = ""): Promise<string> {
  const response = await browser.request(`/login/oidc${query}`);
  return response.headers.get("location") ?? "";
}

/** Signs in at Keycloak and returns to the service. @returns the browser and the service's response to the callback */
async function arrive(site: Site, username: string): Promise<{ browser: FormBrowser; last: Response }> {
  const browser = newBrowser(site);
  const way = await site.keycloak.signIn(await leave(browser), username);
  if ("refusal" in way) throw new Error(`Keycloak refused ${username}: ${way.refusal}`);
  const last = await browser.request(way.callback.slice(site.service.baseUrl.length));
  return { browser, last };
}

/** @returns a browser that is signed in */
async function signIn(site: Site, username: string): Promise<FormBrowser> {
  const { browser, last } = await arrive(site, username);
  if (last.status === 303) return browser;
  throw new Error(`the sign-in of ${username} ended with ${last.status}: ${await last.text()}`);
}

async function personIn(browser: FormBrowser): Promise<{ email: unknown; role: unknown }> {
  const { email, role } = await (await browser.request("/auth/me")).json();
  return { email, role };
}

async function idOf({ keycloak }: Site, username: string): Promise<string> {
  const found = await keycloak.admin("GET", `/users?exact=true&username=${username}`);
  const [user] = Array.isArray(found) ? found : [];
  return String(user?.id);
}

async function activeKey({ keycloak }: Site): Promise<unknown> {
  const keys = await keycloak.admin("GET", "/keys");
  return JSON.stringify(isJsonObject(keys) && isJsonObject(keys.active) ? keys.active.RS256 : undefined);
}

await prove(main);
