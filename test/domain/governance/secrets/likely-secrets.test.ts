// What counts as a secret in a policy, and what does not. Exports, pages and the review share one search, so one table covers them.
import { describe, expect, test } from "bun:test";
import { safeDefault } from "../../../../src/domain/governance/document/safe-default.ts";
import { newSecretsOf } from "../../../../src/domain/governance/drafts/new-secrets.ts";
import { exportedBytes } from "../../../../src/domain/governance/reading/export.ts";
import { likelySecretsIn, replaceSecrets } from "../../../../src/domain/governance/secrets/likely-secrets.ts";
import {
  isRandomText,
  RANDOM_CHARACTERS_MAX,
  RANDOM_CHARACTERS_MIN,
} from "../../../../src/domain/governance/secrets/random-text.ts";
import { HIDDEN, withHiddenSecrets } from "../../../../src/domain/governance/shown/hidden-secrets.ts";
import { pointerOf } from "../../../../src/platform/errors.ts";

const RANDOM = "aB3dE6gH9jK2mN5pQ8sT";
const HEX = "9f86d081884c7d659a2feaa0c55ad015";
const COMMIT = "3f2a9c1b7d5e8f60412a3b4c5d6e7f8091a2b3c4";
const PEM = (kind: string) => `-----BEGIN ${kind}-----\nAAAA\n-----END ${kind}-----\n`;

/** @returns pointers to the secrets in the settings of a harness */
const foundIn = (managed_config: object): string[] => {
  const found: string[] = [];
  const path = ["harnesses", "codex", "managed_config"];
  const replace = ({ path: place, value }: { path: readonly string[]; value: unknown }) => {
    found.push(pointerOf(place.slice(path.length)));
    return value;
  };
  replaceSecrets(managed_config, { path, replace });
  return found;
};

describe("CON-144 a text under an ordinary name is a secret", () => {
  test.each([
    ["a bearer token", "Authorization: Bearer abc"],
    ["a bearer token in a command", "curl -H 'Authorization: Bearer abc' https://example.com"],
    ["a bearer token in a sentence", "Send Bearer abcdefgh1 with each request"],
    ["basic credentials", "Basic YW5hOnMzY3IzdA=="],
    ["a header", "--header=X-Api-Key: abc"],
    ["a header without blanks", "--header=Authorization:Basic YW5hOnM="],
    ["a cookie", "Cookie: session=abc; theme=dark"],
    ["a flag", "--db-password=hunter2"],
    ["a variable", "GITHUB_TOKEN=abc"],
    ["an ADO connection string", "Server=db;User Id=sa;Password=hunter2;"],
    ["a connection string of a storage", "AccountName=a;AccountKey=YWJj;EndpointSuffix=core.windows.net"],
    ["keywords of PostgreSQL", "host=db user=ana password=hunter2"],
    ["a URL with a password", "https://ana:hunter2@example.com"],
    ["a URL of a database", "postgres://ana:hunter2@db/app"],
    ["a URL in a sentence", "Use the proxy http://ana:hunter2@proxy:8080/ for downloads."],
    ["a URL with a key", "https://example.com/?v=1&api_key=abc"],
    ["a URL with a random user", `https://${HEX}@example.com/1`],
    ["a signed URL", "https://a.example/c?sv=1&sig=abcdefghijklmnop%3D"],
    ["a webhook", "https://hooks.slack.com/services/T0/B0/abc"],
    ["lines with a token", "host: example.com\ntoken: abc\n"],
    ["lines with an indented password", "db:\n  - password: 'hunter2'\n"],
    ["JSON", '{"user": "ana", "clientSecret": "abc"}'],
    ["TOML", 'user = "ana"\npassword = "hunter2"'],
    ["an issued key", "sk-1"],
    ["an issued key in a sentence", `The key is ghp_${"a1B2".repeat(9)}.`],
    ["a private key", PEM("RSA PRIVATE KEY")],
    ["a private key in a longer text", `key\n${PEM("PRIVATE KEY")}`],
    ["a web token", `eyJ${RANDOM}.eyJ${RANDOM}.${RANDOM}`],
    ["letters mixed with digits", RANDOM],
    ["a key of AWS", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
    ["base64", "q83vEjRW9JA2S4F5kKvN7xI0Vn3QEj6WeJ1r2e8="],
    ["base64 for URLs", "Zk3-xR7_tQ9wL2mN8vB5cY1hJ4gF6dS0"],
    ["a hexadecimal key", HEX],
    ["lower-case letters mixed with digits", "k3j9x0qw8z7r5t2v1b6n4m0p"],
    ["a default in a reference", `\${TOKEN:-ghp_${"a1B2".repeat(9)}}`],
  ])("%s", (_, text) => {
    expect(foundIn({ note: text, list: [text] })).toEqual(["/note", "/list/0"]);
  });
});

describe("CON-144 a text under an ordinary name is not a secret", () => {
  test.each([
    ...["claude-3-5-sonnet-20241022", "gpt-4o-mini-2024-07-18", "Qwen2-5-Coder-32B-Instruct-GPTQ"],
    ...["Meta-Llama-3-1-405B-Instruct", "Mixtral-8x7B-Instruct-v0-1", "openai/gpt-oss-120b", "sk-SK"],
    ...["anthropic.claude-sonnet-4-20250514-v1:0", "useExperimentalSearchV2Index", "o4-mini"],
    ...[`sha256:${HEX}${HEX}`, "01890000-0000-7000-8000-000000000000", COMMIT],
    ...[`example/image@sha256:${HEX}${HEX}`, `git+https://github.com/a/b@${COMMIT}`],
    ...[`sha512-${RANDOM}${RANDOM}==`, "/usr/local/Lib2/Python311/SitePackages1", "./Build2/Out3/X4"],
    ...["/Users/Ana/Projects2024/MyApp3", "C:\\Keys\\Token1", "https://example.com/token?page=2"],
    ...["https://example.com:8080/password/reset", "git@github.com:a/b.git", "ssh://git@example.com/a"],
    ...["mailto:ana@example.com", PEM("CERTIFICATE"), PEM("PUBLIC KEY"), "ssh-ed25519 AAAA3NzaC1 ana@host"],
    ...[`$\{TOKEN}`, "$TOKEN", `Bearer $\{env:TOKEN}`, `Authorization: Bearer $\{TOKEN}`, "os.environ/KEY"],
    ...["--token=$TOKEN", `https://ana:$\{PASSWORD}@example.com`, "password=<your password>"],
    ...["https://a.example/?token=$TOKEN", `{"token": "{env:TOKEN}"}`, "token: {{ secret }}"],
    ...["GITHUB_TOKEN", "--token-env", "OPENAI_API_KEY", "bearer_token_env_var", "max_tokens: 4096"],
    ...["--max-tokens=4096", "tokens: 4096", "--no-auth", "auth: none", "--auth=oauth", "token: string"],
    ...["Never print a token: users may see it.", "Basic settings", "Bearer of news", "key=value", "a==b"],
    ...["if (token == null) return", "const token = getToken()", "The password, if any", "", " ", "x"],
    ...["--key-file=/etc/keys/Main2", "secret=/run/secrets/db", "@example/server@1.2.3", "a: b"],
  ])("%p", (text) => expect(foundIn({ note: text, list: [text] })).toEqual([]));
});

describe("CON-144 a value under this name is a secret", () => {
  test.each([
    ...["token", "apiKey", "API-KEY", "pass", "pwd", "auth", "license_key", "accountKey", "passphrase"],
    ...["credential", "credentials", "private_key", "connection_string", "connectionString", "cookie"],
    ...["DB_PASS", "x-auth-token", "client_secret", "access_key", "jwt", "encryptionKeyBase64", "npm_auth"],
  ])("%s", (name) => {
    expect(foundIn({ [name]: "abc" })).toEqual([`/${name}`]);
    expect(foundIn({ outer: { [name]: ["abc", { x: "abc" }] } })).toHaveLength(2);
    expect(foundIn({ args: [`--${name}`, "abc"] })).toEqual(["/args/1"]);
  });

  test.each([
    ...["model", "max_tokens", "maxTokens", "key", "author", "authority", "token_count", "bypass"],
    ...["tokenizer", "compass", "api_key_env", "bearer_token_env_var", "password_length", "no_auth"],
    ...["secret_file", "keyboard", "passenger", "use_cookies"],
  ])("%s is not such a name", (name) => expect(foundIn({ [name]: "abc" })).toEqual([]));

  test.each([
    ["an empty text", ""],
    ["a path", "/etc/keys/main.pem"],
    ["a path in the home folder", "~/.token"],
    ["a reference", `$\{TOKEN}`],
    ["the name of a variable", "GITHUB_TOKEN"],
    ["a word that means none", "none"],
    ["true", true],
    ["null", null],
  ])("does not treat %s as a secret", (_, value) => expect(foundIn({ token: value })).toEqual([]));

  test("treats a number as a secret, unless it is a quantity", () => {
    expect(foundIn({ password: 12345678, pins: { pass: [1, 2] }, secret: -1.5 })).toHaveLength(4);
    expect(
      foundIn({ max_tokens: 4096, tokens: 4096, inputTokens: 1, port: 8080, auth: { timeout: 5 } }),
    ).toEqual([]);
  });

  test("does not treat members that describe a way to sign in as secrets", () => {
    const auth = { type: "custom", url: "https://login.example.com", clientId: "cli", value: "abc" };
    expect(foundIn({ auth })).toEqual(["/auth/value"]);
  });

  test("does not treat a random text under the name of an identifier as a secret", () => {
    const names = ["commit", "executable_sha256", "checksum", "client_id", "public_key", "certificate"];
    expect(foundIn(Object.fromEntries(names.map((name) => [name, RANDOM])))).toEqual([]);
    expect(foundIn({ args: ["--client-id", RANDOM, `--revision=${HEX}`, `--x=${HEX}`] })).toEqual([
      "/args/3",
    ]);
  });
});

test("CON-144 ids and names of servers are not names of values", () => {
  const server = { name: "token", command: "run", disabled: false };
  const codex = {
    managed_config: { mcp_servers: { "github-auth": { command: "run", env: { MODE: "fast" } } } },
    mcp: [server],
    package_overrides: { secret: { settings: { color: "red" } } },
  };
  const document = { ...safeDefault(), harnesses: { codex } };
  expect(withHiddenSecrets(document).harnesses.codex).toEqual({
    ...codex,
    managed_config: { mcp_servers: { "github-auth": { command: "run", env: { MODE: HIDDEN } } } },
  });
});

test("CON-144 variables in the arguments of a server are secrets like its other variables", () => {
  const args = ["run", "-e", "MODE=fast", "--env", "mode=fast", "--env=A=b", "LEVEL=debug", "-eX=y", "a=b"];
  const server = { name: "docs", command: "docker", args: [...args, "-e", "DB_PASS=x"], disabled: false };
  const document = {
    ...safeDefault(),
    harnesses: { codex: { managed_config: {}, mcp: [server], package_overrides: {} } },
  };
  const [hidden] = withHiddenSecrets(document).harnesses.codex.mcp;
  expect(hidden?.args?.flatMap((text, at) => (text === HIDDEN ? at : []))).toEqual([2, 4, 5, 6, 7, 10]);
  expect(likelySecretsIn(server)).toEqual(["/args/10"]);
  expect(newSecretsOf(safeDefault(), document).named).toEqual(["/harnesses/codex/mcp/docs/args/10"]);
  expect(likelySecretsIn({ command: "env", args: ["--header", "Authorization: Bearer x"] })).toEqual([
    "/args/1",
  ]);
});

test.each([
  [RANDOM_CHARACTERS_MIN - 1, false],
  [RANDOM_CHARACTERS_MIN, true],
  [RANDOM_CHARACTERS_MAX, true],
  [RANDOM_CHARACTERS_MAX + 1, false],
])("a random text of %d characters: %p", (length, isFound) => {
  expect(isRandomText(RANDOM.repeat(250).slice(0, length))).toBe(isFound);
});

test("an export refers to a number as a number", () => {
  const document = { ...safeDefault(), harnesses: { codex: { managed_config: { password: 1234 } } } };
  const bytes = exportedBytes({ document: JSON.stringify(document), configuration: undefined, sources: {} });
  const { yaml, redactions } = JSON.parse(Buffer.from(bytes).toString());
  const path = "/governance/harnesses/codex/managed_config/password";
  const variable = "QUARTERMASTER_GOVERNANCE_HARNESSES_CODEX_MANAGED_CONFIG_PASSWORD";
  expect(redactions).toEqual([{ path, environment_variable: variable }]);
  expect(yaml).toContain(`password: os.environ/${variable}:number\n`);
});

/** Each would take seconds or minutes if the search repeated itself; only the test's time limit applies. */
test.each([
  ...["=", ":", "a=", "token=;", "token:;", "token:\n", " token =", "://", "://a:", "://a@", "bearer "],
  ...[
    "eyJ",
    "-eyJ",
    `eyJ${"a".repeat(8)}.`,
    "sk-",
    "/",
    "/a ",
    "-",
    "aA1",
    "A",
    "-----BEGIN ",
    "$",
    '"',
    "{",
    "<",
  ],
  ...["password=$X;", "Authorization: Bearer $X\n", "xox", "\n", "\\", "%", "a.", "@", "a1", "https://"],
])("CON-144 2 MiB of %p are searched in linear time", (piece) => {
  const text = piece.repeat((2 * 1024 * 1024) / piece.length);
  expect(foundIn({ a: `${text} `, b: ` ${text}`, c: `${text}!` }).length).toBeLessThanOrEqual(3);
});
