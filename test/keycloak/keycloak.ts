// A Keycloak of the version below, fetched from Maven, with one realm: how it is fetched, started and called through its admin API,
// and how its sign-in form is filled in. run.ts has the tests.
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FormBrowser } from "../support/browser/form-browser.ts";

const VERSION = "26.3.5";
const ARTIFACT = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
const CACHE = join(import.meta.dir, "../../node_modules/.cache");
const REALM = "company";
const ADMIN = { username: "operator", password: "operator-of-a-test" };
/** A first start also builds its server. */
const START_LIMIT_MS = 300_000;
const CHECK_EVERY_MS = 500;

export const CLIENT = { id: "quartermaster", secret: "secret-of-a-test" };
export const PASSWORD = "correct horse battery";

/** One person of the realm, who has a verified address and PASSWORD. */
export interface KeycloakPerson {
  username: string;
  group?: string;
}

export interface Keycloak extends AsyncDisposable {
  issuer: string;
  /** @returns the parsed response of the admin API below the realm; undefined without a body */
  admin(method: string, path: string, body?: unknown): Promise<unknown>;
  /**
   * Follows the service's link to the sign-in form, and fills it in.
   * @returns the redirect to the service, or the text of the page that is shown instead
   */
  signIn(link: string, username: string): Promise<{ callback: string } | { refusal: string }>;
}

/** @returns the folder of the distribution, fetched with Maven unless $KEYCLOAK_HOME or an earlier run has it */
export function keycloakHome(): string {
  const home = process.env.KEYCLOAK_HOME ?? join(CACHE, `keycloak-${VERSION}`);
  if (existsSync(join(home, "bin/kc.sh"))) return home;
  const folder = join(CACHE, `keycloak-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const { exitCode, stdout } = Bun.spawnSync(
    ["mvn", "-q", "-B", UNPACK, "--define", `artifact=${ARTIFACT}`, "--define", `outputDirectory=${folder}`],
    { stderr: "inherit", cwd: folder },
  );
  if (exitCode !== 0) throw new Error(`Maven did not fetch Keycloak:\n${stdout}`);
  renameSync(join(folder, `keycloak-${VERSION}`), home);
  rmSync(folder, { recursive: true });
  return home;
}

const UNPACK = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:unpack";

/**
 * Starts Keycloak with the users and a client for the service. @param options folder: an empty one for a copy of the
 * distribution with its data; port: a free one; serviceUrl: the service's origin
 */
export async function startKeycloak(options: {
  home: string;
  folder: string;
  port: number;
  serviceUrl: string;
  people: readonly KeycloakPerson[];
}): Promise<Keycloak> {
  const { home, folder, port, serviceUrl, people } = options;
  cpSync(home, folder, { recursive: true });
  mkdirSync(join(folder, "data/import"), { recursive: true });
  writeFileSync(join(folder, "data/import/realm.json"), JSON.stringify(realmOf(serviceUrl, people)));
  const listen = ["--http-host", "127.0.0.1", "--http-port", String(port)];
  const child = Bun.spawn(["sh", join(folder, "bin/kc.sh"), "start-dev", "--import-realm", ...listen], {
    env: {
      ...process.env,
      JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx512m",
      KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
    stdout: Bun.file(join(folder, "keycloak.log")),
    stderr: "inherit",
  });
  const origin = `http://127.0.0.1:${port}`;
  const issuer = `${origin}/realms/${REALM}`;
  await ready(issuer, () => child.exitCode === null);
  return {
    issuer,
    admin: async (method, path, body) => {
      const response = await fetch(`${origin}/admin/realms/${REALM}${path}`, {
        method,
        headers: { authorization: `Bearer ${await tokenOf(origin)}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === "" ? undefined : JSON.parse(text);
    },
    signIn: (link, username) => signIn(origin, link, username),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

async function ready(issuer: string, isRunning: () => boolean): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  const isThere = () =>
    fetch(`${issuer}/.well-known/openid-configuration`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isThere())) {
    if (!isRunning() || performance.now() > deadline) throw new Error("Keycloak did not start");
    await Bun.sleep(CHECK_EVERY_MS);
  }
}

/** @returns an access token of the administrator, valid for a minute; the realm of administrators issues it for a password */
async function tokenOf(origin: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: "password", client_id: "admin-cli", ...ADMIN });
  const answer = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body,
  });
  const { access_token } = await answer.json();
  return String(access_token);
}

async function signIn(
  origin: string,
  link: string,
  username: string,
): Promise<{ callback: string } | { refusal: string }> {
  const browser = new FormBrowser(origin, (request) => fetch(request));
  const { forms } = await browser.visit(link.slice(origin.length));
  const action = forms[0]?.action.replaceAll("&amp;", "&") ?? "";
  const answer = await browser.request(action.slice(origin.length), {
    method: "POST",
    body: new URLSearchParams({ username, password: PASSWORD }),
  });
  const location = answer.headers.get("location");
  if (location !== null) return { callback: location };
  return { refusal: (await answer.text()).replaceAll(/<[^>]*>/g, " ") };
}

/** The realm file, as the handbook describes the client. */
const realmOf = (serviceUrl: string, people: readonly KeycloakPerson[]) => ({
  realm: REALM,
  enabled: true,
  groups: [...new Set(people.flatMap(({ group }) => group ?? []))].map((name) => ({ name })),
  users: people.map(({ username, group }) => ({
    username,
    enabled: true,
    email: `${username}@example.com`,
    emailVerified: true,
    firstName: username,
    lastName: "Example",
    credentials: [{ type: "password", value: PASSWORD }],
    groups: group === undefined ? [] : [`/${group}`],
  })),
  clients: [
    {
      clientId: CLIENT.id,
      secret: CLIENT.secret,
      protocol: "openid-connect",
      publicClient: false,
      standardFlowEnabled: true,
      redirectUris: [`${serviceUrl}/api/auth/callback/oidc`],
      attributes: {
        "post.logout.redirect.uris": `${serviceUrl}/signed-out`,
        "backchannel.logout.url": `${serviceUrl}/api/auth/backchannel-logout/oidc`,
        "backchannel.logout.session.required": "true",
      },
      protocolMappers: [
        {
          name: "groups",
          protocol: "openid-connect",
          protocolMapper: "oidc-group-membership-mapper",
          config: { "claim.name": "groups", "full.path": "false", "id.token.claim": "true" },
        },
      ],
    },
  ],
});
