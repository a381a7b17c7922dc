// The repository connections of the configuration file: reading, causes of a disabled connection, and the effect of a
// changed file (SRC-29 to SRC-31, SRC-47).
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CA_BYTES_MAX,
  CONNECTIONS_MAX,
  ConfiguredConnections,
} from "../../../../src/app/installation/connections/configured-connections.ts";
import {
  CLONE_PATH_CHARACTERS_MAX,
  DOWNLOAD_HOSTS_MAX,
  ID_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  NAMESPACES_MAX,
  USERNAME_CHARACTERS_MAX,
  WATCH_HOURS_MAX,
} from "../../../../src/app/installation/connections/connection-members.ts";
import {
  TOKEN_CHARACTERS_MAX,
  WEBHOOK_SECRET_CHARACTERS_MIN,
} from "../../../../src/app/installation/connections/connection-secrets.ts";
import { allDestinationsOf } from "../../../../src/app/installation/destinations.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { temporaryDirectory } from "../../../support/world.ts";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
  secret("token", "a-secret-token\n");
});
afterEach(() => rmSync(directory, { recursive: true }));

const secret = (name: string, text: string) => {
  writeFileSync(join(directory, name), text, { mode: 0o600 });
  return `file://${name}`;
};
const configWith = (document: object, env: Record<string, string> = {}) => {
  const file = join(directory, "quartermaster.yaml");
  writeFileSync(file, JSON.stringify(document), { mode: 0o600 });
  return loadConfig({ flags: { config: file }, env, cwd: directory });
};
const FORGE = {
  id: "forge",
  provider: "gitea",
  api_base_url: "https://forge.example/git",
  token: "file://token",
  organizations: { dev: ["acme"] },
};
const connectionsOf = (...list: object[]) =>
  new ConfiguredConnections(configWith({ package_sources: { connections: list } }));
const tokenOf = (connections: ConfiguredConnections) => {
  const credential = connections.list()[0]?.credential();
  return credential?.kind === "token" ? credential.token.reveal() : credential?.kind;
};

describe("SRC-29 a connection", () => {
  test("is read with all its members", () => {
    const more = { name: "Forge", download_hosts: ["cdn.example"], skip_links: true, watch_every_hours: 6 };
    expect(connectionsOf({ ...FORGE, ...more }).list()).toEqual([
      {
        id: "forge",
        name: "Forge",
        provider: "gitea",
        apiBase: "https://forge.example/git/api/v1",
        clone: undefined,
        downloadOrigins: ["https://cdn.example"],
        namespaces: ["acme"],
        skipLinks: true,
        watchEveryHours: 6,
        ca: undefined,
        credential: expect.any(Function),
        webhookSecret: undefined,
      },
    ]);
  });

  test.each([
    ["github", undefined, "https://api.github.com", ["codeload.github.com", "objects.githubusercontent.com"]],
    ["github", "https://ghe.example/api/v3/", "https://ghe.example/api/v3", ["codeload.ghe.example"]],
    ["gitlab", undefined, "https://gitlab.com/api/v4", []],
    ["gitlab", "https://lab.example/api/v4", "https://lab.example/api/v4", []],
    ["gitea", "https://forge.example/api/v1", "https://forge.example/api/v1", []],
    ["bitbucket_data_center", "https://bb.example/rest/api/1.0", "https://bb.example/rest/api/latest", []],
  ])("derives the API and the download hosts of %s at %p", (provider, base, api, hosts) => {
    const [connection] = connectionsOf({ ...FORGE, provider, api_base_url: base }).list();
    expect(connection?.apiBase).toBe(api);
    expect(connection?.downloadOrigins).toEqual(hosts.map((host) => `https://${host}`));
  });

  test.each([
    ["bitbucket_cloud", {}, "https://api.bitbucket.org/2.0 https://bitbucket.org {namespace}/{name}.git"],
    [
      "bitbucket_cloud",
      { api_base_url: "https://api.bitbucket.org/2.0/", web_base_url: "https://bb.example/" },
      "https://api.bitbucket.org/2.0 https://bb.example {namespace}/{name}.git",
    ],
    [
      "git",
      { api_base_url: "https://g.example/a/" },
      "https://g.example/a https://g.example/a {namespace}/{name}",
    ],
    [
      "git",
      { api_base_url: "https://g.example", clone_path: "{namespace}/_git/{name}" },
      "https://g.example https://g.example {namespace}/_git/{name}",
    ],
  ])("derives the repository addresses for %s with %o", (provider, more, addresses) => {
    const [connection] = connectionsOf({ ...FORGE, api_base_url: undefined, provider, ...more }).list();
    const { base, path } = connection?.clone ?? {};
    expect(`${connection?.apiBase} ${base} ${path}`).toBe(addresses);
  });

  test("gives Bitbucket Cloud two destinations, the API and the repositories (SRC-16)", () => {
    const connection = { ...FORGE, provider: "bitbucket_cloud", api_base_url: undefined };
    const config = configWith({ package_sources: { connections: [connection] } });
    expect(allDestinationsOf(config).map(({ name, origin }) => [name, origin])).toEqual([
      ["package-source:forge", "https://api.bitbucket.org"],
      ["package-source:forge:bitbucket.org", "https://bitbucket.org"],
    ]);
  });

  test("gives the namespaces of the organization by its slug, or of * (SRC-47)", () => {
    const namespaces = (organizations: object, slug?: string) =>
      new ConfiguredConnections(
        configWith({
          package_sources: { connections: [{ ...FORGE, organizations }] },
          ...(slug && { bootstrap: { organization_slug: slug } }),
        }),
      ).list()[0]?.namespaces;
    expect(namespaces({ dev: ["a"], "*": ["b"] })).toEqual(["a"]);
    expect(namespaces({ "*": ["*"] }, "acme")).toEqual(["*"]);
    expect(namespaces({ dev: ["a"] }, "acme")).toEqual([]);
  });

  test("reads a connection of a reference deployment", () => {
    const config = configWith({
      control_api: { bootstrap: { organization_slug: "acme" }, package_sources: { connections: [FORGE] } },
    });
    const connections = new ConfiguredConnections(config);
    expect(connections.rows()).toEqual([
      {
        key: "package_sources.connections[forge]",
        value: "gitea, token set",
        origin: "file:1 (control_api.package_sources.connections)",
      },
    ]);
  });

  test("is a destination with its reason, and there is none without a connection (SRC-16, SRC-43)", () => {
    const config = configWith({
      package_sources: { connections: [{ ...FORGE, download_hosts: ["cdn.example"] }] },
    });
    expect(allDestinationsOf(config)).toEqual([
      {
        name: "package-source:forge",
        origin: "https://forge.example",
        base: "/git/api/v1",
        why: "repositories of the connection forge",
      },
      {
        name: "package-source:forge:cdn.example",
        origin: "https://cdn.example",
        why: "archives to which the connection forge redirects",
      },
    ]);
    expect(allDestinationsOf(configWith({}))).toEqual([]);
  });
});

describe("a credential", () => {
  test.each([
    ["os.environ/FORGE", { FORGE: "from-the-environment" }, "from-the-environment"],
    ["env://FORGE", { FORGE: "from-the-environment" }, "from-the-environment"],
    ["literal", {}, "literal"],
  ])("may be %p", (token, env, expected) => {
    const config = configWith({ package_sources: { connections: [{ ...FORGE, token }] } }, env);
    const connections = new ConfiguredConnections(config);
    expect(tokenOf(connections)).toBe(expected);
    expect(connections.warnings()).toHaveLength(token === "literal" ? 1 : 0);
    expect(JSON.stringify([connections.rows(), connections.warnings()])).not.toContain(expected);
  });

  test("takes a user name with a token, or nothing, as the credential of a git server", () => {
    const server = { ...FORGE, provider: "git" };
    const credentialOf = (more: object) =>
      connectionsOf({ ...server, ...more })
        .list()[0]
        ?.credential();
    expect(credentialOf({ username: "reader" })).toMatchObject({ kind: "login", username: "reader" });
    expect(credentialOf({})).toMatchObject({ kind: "login", username: "git" });
    expect(credentialOf({ token: undefined })).toEqual({ kind: "none" });
    expect(connectionsOf({ ...server, username: "reader" }).rows()[0]?.value).toBe(
      "git, username and token set",
    );
    expect(connectionsOf({ ...FORGE, username: "reader" }).warnings()).toHaveLength(1);
    const path = { clone_path: "{namespace}/{name}" };
    expect(connectionsOf({ ...FORGE, ...path }).warnings()).toHaveLength(1);
    expect(connectionsOf({ ...server, ...path }).warnings()).toEqual([]);
  });

  test("may be passed by the service manager", () => {
    secret("package-source-forge-token", "from-systemd");
    const { token: _, ...rest } = FORGE;
    const config = configWith(
      { package_sources: { connections: [rest] } },
      { CREDENTIALS_DIRECTORY: directory },
    );
    expect(tokenOf(new ConfiguredConnections(config))).toBe("from-systemd");
  });

  test("may be a GitHub App, whose key is checked", () => {
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
      publicKeyEncoding: { type: "spki", format: "pem" },
    });
    const { token: _, ...rest } = { ...FORGE, provider: "github", api_base_url: undefined };
    const app = { ...rest, app_id: 12345, private_key: secret("key", privateKey) };
    expect(tokenOf(connectionsOf(app))).toBe("app");
    secret("key", "not a key");
    expect(connectionsOf(app).broken()[0]?.problems).toEqual(["private_key is not an RSA key in PEM"]);
  });

  test("reads a changed credential again, and keeps the former one while the file is missing or incomplete (SRC-30)", () => {
    const connections = connectionsOf(FORGE);
    expect(tokenOf(connections)).toBe("a-secret-token");
    secret("token", "another-secret-token");
    expect(tokenOf(connections)).toBe("another-secret-token");
    secret("token", "");
    expect(tokenOf(connections)).toBe("another-secret-token");
    rmSync(join(directory, "token"));
    expect(tokenOf(connections)).toBe("another-secret-token");
    secret("token", "the-third-secret-token");
    expect(tokenOf(connections)).toBe("the-third-secret-token");
  });

  test("stops using a connection at a reload if its file is missing (SRC-30)", () => {
    const config = configWith({ package_sources: { connections: [FORGE] } });
    const connections = new ConfiguredConnections(config);
    rmSync(join(directory, "token"));
    expect(connections.list()).toHaveLength(1);
    connections.use(config);
    expect([connections.list().length, connections.broken().length]).toEqual([0, 1]);
  });
});

describe("a faulty connection is disabled with all its problems, and the others keep working (SRC-30, SRC-31)", () => {
  const problemsOf = (faulty: object) => {
    const connections = connectionsOf(faulty, FORGE);
    expect(connections.list().map(({ id }) => id)).toEqual(["forge"]);
    return connections.broken().flatMap(({ problems }) => problems);
  };
  const other = { ...FORGE, id: "other" };

  test.each([
    [{ ...other, tokn: "x" }, ["there is no member tokn; the nearest is token"]],
    [
      { ...other, api_base_url: undefined, api_base_urll: "https://forge.example" },
      ["there is no member api_base_urll; the nearest is api_base_url"],
    ],
    [
      { ...other, provider: undefined, provider_: "gitea" },
      ["there is no member provider_; the nearest is provider"],
    ],
    [
      { ...other, api_base_url: "x", api_base_urll: "https://forge.example" },
      [expect.stringContaining("api_base_urll"), expect.stringContaining("api_base_url must be")],
    ],
    [{ ...other, provider: "svn" }, [expect.stringContaining("provider must be one of github")]],
    [{ ...other, provider: "git", api_base_url: undefined }, [expect.stringContaining("https URL")]],
    [{ ...other, provider: "git", username: "a:b" }, [expect.stringContaining("username must be")]],
    [{ ...other, provider: "git", username: "a", token: undefined }, ["token is missing"]],
    [{ ...other, provider: "git", app_id: 1 }, ["app_id and private_key are for a GitHub App"]],
    [
      { ...other, provider: "git", clone_path: "../{namespace}/{name}" },
      [expect.stringContaining("clone_path")],
    ],
    [
      { ...other, provider: "git", clone_path: "{name}/{namespace}" },
      [expect.stringContaining("clone_path")],
    ],
    [
      { ...other, provider: "bitbucket_cloud", web_base_url: "http://bb.example" },
      [expect.stringContaining("web_base_url must be an https URL")],
    ],
    [{ ...other, api_base_url: "http://forge.example" }, [expect.stringContaining("must be an https URL")]],
    [{ ...other, api_base_url: "https://u:p@forge.example" }, [expect.stringContaining("https URL")]],
    [{ ...other, organizations: undefined }, [expect.stringContaining("organizations must be")]],
    [{ ...other, organizations: { dev: ["a b"] } }, [expect.stringContaining("organizations must be")]],
    [{ ...other, download_hosts: ["*.example"] }, [expect.stringContaining("download_hosts must be")]],
    [{ ...other, download_hosts: ["cdn.example:8443"] }, [expect.stringContaining("download_hosts")]],
    [{ ...other, token: "file://absent" }, [expect.stringContaining("does not exist")]],
    [{ ...other, token: "os.environ/ABSENT" }, ["token refers to ABSENT, which is not set for this process"]],
    [{ ...other, token: undefined }, ["token is missing"]],
    [{ ...other, ca_bundle: "absent.pem" }, [expect.stringContaining("ca_bundle")]],
    [{ ...other, watch_every_hours: 0 }, [expect.stringContaining("watch_every_hours")]],
    [
      { ...other, webhook_secret: "os.environ/ABSENT" },
      ["webhook_secret refers to ABSENT, which is not set for this process"],
    ],
    [
      { ...other, webhook_secret: "file://token" },
      [expect.stringContaining("webhook_secret must be one word"), "webhook_secret needs watch_every_hours"],
    ],
    [{ ...FORGE, id: "a b" }, [expect.stringContaining("id must be")]],
    [
      { ...other, provider: "svn", api_base_url: "x", organizations: {} },
      [expect.any(String), expect.any(String), expect.any(String)],
    ],
  ])("%p", (faulty, problems) => expect(problemsOf(faulty)).toEqual(problems));

  test("disables a connection beyond a limit", () => {
    const count = (connections: object[]) => connectionsOf(...connections).list().length;
    const accepts = (more: object) => count([{ ...FORGE, ...more }]) === 1;
    const around = (max: number, accepted: (value: number) => boolean) =>
      [max - 1, max, max + 1].map(accepted);
    const WITHIN = [true, true, false];
    expect(around(ID_CHARACTERS_MAX, (length) => accepts({ id: "a".repeat(length) }))).toEqual(WITHIN);
    expect(around(NAME_CHARACTERS_MAX, (length) => accepts({ name: "a".repeat(length) }))).toEqual(WITHIN);
    const hosts = (length: number) => ({ download_hosts: Array(length).fill("cdn.example") });
    expect(around(DOWNLOAD_HOSTS_MAX, (length) => accepts(hosts(length)))).toEqual(WITHIN);
    const namespaces = (length: number) => ({ organizations: { dev: Array(length).fill("acme") } });
    expect(around(NAMESPACES_MAX, (length) => accepts(namespaces(length)))).toEqual(WITHIN);
    expect(around(WATCH_HOURS_MAX, (hours) => accepts({ watch_every_hours: hours }))).toEqual(WITHIN);
    const git = (more: object) => accepts({ provider: "git", ...more });
    expect(around(USERNAME_CHARACTERS_MAX, (length) => git({ username: "a".repeat(length) }))).toEqual(
      WITHIN,
    );
    const path = (length: number) => ({ clone_path: "{namespace}/{name}".padStart(length, "a") });
    expect(around(CLONE_PATH_CHARACTERS_MAX, (length) => git(path(length)))).toEqual(WITHIN);
    const tokens = (length: number) => ({ token: secret("token", "t".repeat(length)) });
    expect(around(TOKEN_CHARACTERS_MAX, (length) => accepts(tokens(length)))).toEqual(WITHIN);
    const webhook = (length: number) =>
      accepts({
        token: secret("token", "t"),
        watch_every_hours: 6,
        webhook_secret: secret("hook", "h".repeat(length)),
      });
    expect(around(TOKEN_CHARACTERS_MAX, webhook)).toEqual(WITHIN);
    expect(around(WEBHOOK_SECRET_CHARACTERS_MIN, webhook)).toEqual([false, true, true]);
    const pem = (length: number) => {
      writeFileSync(join(directory, "ca.pem"), "-----BEGIN CERTIFICATE-----".padEnd(length));
      return { ca_bundle: "ca.pem", token: secret("token", "t") };
    };
    expect(around(CA_BYTES_MAX, (length) => accepts(pem(length)))).toEqual(WITHIN);
    const many = (length: number) => count(Array.from({ length }, (_, at) => ({ ...FORGE, id: `c${at}` })));
    const most = CONNECTIONS_MAX;
    expect([many(most - 1), many(most), many(most + 1)]).toEqual([most - 1, most, 0]);
  });

  test("disables a second connection with the same id", () => {
    const connections = connectionsOf(FORGE, FORGE);
    const problems = [{ id: "forge", problems: ["there is another connection forge"] }];
    expect(connections.broken()).toEqual(problems);
    secret("token", "another-secret-token");
    expect(connections.broken()).toEqual(problems);
  });

  test("disables a connection with a secret in a file that everyone can read", () => {
    const config = configWith({ package_sources: { connections: [{ ...FORGE, token: "literal" }] } });
    chmodSync(join(directory, "quartermaster.yaml"), 0o644);
    const reloaded = loadConfig(config.sources());
    expect(new ConfiguredConnections(reloaded).broken()).toHaveLength(1);
  });
});
