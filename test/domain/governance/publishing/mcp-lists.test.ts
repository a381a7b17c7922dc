// MCP servers by server instead of by harness, the detection of keys and tokens, and the lists of a draft.
import { describe, expect, test } from "bun:test";
import { MCP_SERVERS_MAX, type McpServer } from "../../../../src/domain/governance/model.ts";
import {
  changedLists,
  findServer,
  harnessesWithName,
  serversIn,
} from "../../../../src/domain/governance/publishing/mcp-lists.ts";
import { likelySecretsIn } from "../../../../src/domain/governance/secrets/likely-secrets.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { createGovernanceWorld, packageOf, refusalOf } from "../governance-world.ts";

const server = (name: string, more: Partial<McpServer> = {}): McpServer => ({
  name,
  command: `run-${name}`,
  disabled: false,
  ...more,
});
const policy = (...mcp: McpServer[]) => ({ managed_config: {}, mcp, package_overrides: {} });
const [search, docs, other] = [server("search"), server("docs"), server("docs", { command: "other" })];
const DOCUMENT = { harnesses: { codex: policy(search, docs), claude: policy(docs), kimi: policy(other) } };

test("CON-69 harnesses with exactly the same server share one row, by name", () => {
  expect(serversIn(DOCUMENT)).toEqual([
    { server: docs, harnesses: ["codex", "claude"] },
    { server: other, harnesses: ["kimi"] },
    { server: search, harnesses: ["codex"] },
  ]);
  expect(serversIn({ harnesses: {} })).toEqual([]);
  expect(findServer(DOCUMENT, { name: " docs" })?.harnesses).toEqual(["codex", "claude"]);
  expect(findServer(DOCUMENT, { name: "docs", harness: "kimi" })?.server).toEqual(other);
  expect(findServer(DOCUMENT, { name: "docs", harness: "opencode" })).toBeUndefined();
});

describe("a change of a server", () => {
  const former = findServer(DOCUMENT, { name: "docs" });
  const next = server("handbook");

  test("keeps the position, adds it where it was not, and leaves other harnesses alone", () => {
    const change = { former, next: { server: next, harnesses: ["codex", "opencode"] as const } };
    expect(changedLists(DOCUMENT, change)).toEqual({ codex: [search, next], claude: [], opencode: [next] });
  });

  test("replaces a different server of the former name only in the harnesses that are chosen", () => {
    const change = { former, next: { server: next, harnesses: ["codex", "claude", "kimi"] as const } };
    expect(changedLists(DOCUMENT, change)).toEqual({ codex: [search, next], claude: [next], kimi: [next] });
    expect(changedLists(DOCUMENT, { former, next: undefined })).toEqual({ codex: [search], claude: [] });
  });

  test("names the harnesses where another server has the new name", () => {
    const harnesses = ["codex", "claude"] as const;
    expect(harnessesWithName(DOCUMENT, { former, next: { server: search, harnesses } })).toEqual(["codex"]);
    expect(harnessesWithName(DOCUMENT, { former, next: { server: docs, harnesses } })).toEqual([]);
    const fresh = { former: undefined, next: { server: server("docs "), harnesses } };
    expect(harnessesWithName(DOCUMENT, fresh)).toEqual(["codex", "claude"]);
  });
});

describe("what looks like a key or token", () => {
  test("is found by its name, its flag, its beginning and its form", () => {
    const env = {
      GITHUB_TOKEN: "x",
      PLAIN: "ghp_abc",
      RANDOM: "aB3dE6gH9jK2mN5pQ8sT",
      HEX: "0123456789abcdef0123456789ABCDEF",
    };
    const args = ["--token", "x", "--api-key=y", "sk-1"];
    const url = "https://mcp.example.com/?api_key=1";
    expect(likelySecretsIn({ command: "Bearer x", args, env, url })).toEqual([
      "/command",
      ...["/args/1", "/args/2", "/args/3"],
      ...["/env/GITHUB_TOKEN", "/env/PLAIN", "/env/RANDOM", "/env/HEX"],
      "/url",
    ]);
  });

  test("is not found in ordinary values, references, and values that are too short", () => {
    const env = {
      TOKEN: "$TOKEN",
      SECRET: "$" + "{SECRET}",
      PASSWORD: "",
      KEY_FILE: "/etc/keys/Main2",
      RANDOM: "aB3dE6gH9jK2mN5pQ8s",
      HEX: "0123456789abcdef0123456789abcde",
      UUID: "01890000-0000-7000-8000-000000000000",
    };
    expect(likelySecretsIn({ command: "npx", args: ["-y", "@example/server@1.2.3"], env })).toEqual([]);
    expect(likelySecretsIn({ url: "https://mcp.example.com/v1" })).toEqual([]);
  });
});

describe("the lists of a draft", () => {
  const author = async (world: Awaited<ReturnType<typeof createGovernanceWorld>>): Promise<Actor> =>
    (await world.signedIn("admin")).actor;

  test("replace the servers of the named harnesses, and keep packages and all other servers", async () => {
    await using world = await createGovernanceWorld();
    const { drafts } = world.governance;
    const ana = await author(world);
    const extensions = { packages: [packageOf("guide")], mcp: { codex: [search], claude: [docs] } };
    const first = await drafts.saveExtensions(ana, { version: 0 }, extensions);
    const second = await drafts.saveMcp(ana, first, { codex: [docs], kimi: [other] });
    expect(second.document).toMatchObject({
      packages: [{ id: "guide" }],
      harnesses: { codex: { mcp: [docs] }, claude: { mcp: [docs] }, kimi: { mcp: [other] } },
    });
    expect((await drafts.saveMcp(ana, second, { kimi: [] })).document.harnesses.kimi?.mcp).toEqual([]);
  });

  test("name every problem with its place, and change nothing", async () => {
    await using world = await createGovernanceWorld();
    const { drafts } = world.governance;
    const ana = await author(world);
    const lists = { codex: [{ name: "x" }, { name: "y", url: "ftp://x" }], vim: [docs] };
    const refusal = await refusalOf(() => drafts.saveMcp(ana, { version: 0 }, lists));
    expect(refusal).toMatchObject({
      reason: "governance.invalid",
      pointers: ["/mcp/codex/0", "/mcp/codex/1/url", "/mcp/vim"],
    });
    expect(drafts.versionOf(ana)).toBe(0);
  });

  test("may have MCP_SERVERS_MAX servers for each harness, and not one more", async () => {
    await using world = await createGovernanceWorld();
    const { drafts } = world.governance;
    const ana = await author(world);
    const many = (count: number) => Array.from({ length: count }, (_, at) => server(`s${at}`));
    const below = await drafts.saveMcp(ana, { version: 0 }, { codex: many(MCP_SERVERS_MAX - 1) });
    const full = await drafts.saveMcp(ana, below, { codex: many(MCP_SERVERS_MAX) });
    expect(full.document.harnesses.codex?.mcp).toHaveLength(MCP_SERVERS_MAX);
    const refusal = await refusalOf(() => drafts.saveMcp(ana, full, { codex: many(MCP_SERVERS_MAX + 1) }));
    expect(refusal.pointers).toEqual(["/mcp/codex"]);
  });
});
