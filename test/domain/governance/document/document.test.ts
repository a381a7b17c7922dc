// The structure of a policy document and its members: what is valid, what is refused with its pointer, and every limit.
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { readDraft } from "../../../../src/domain/governance/document/draft.ts";
import { safeDefault } from "../../../../src/domain/governance/document/safe-default.ts";
import * as limits from "../../../../src/domain/governance/model.ts";
import { MODEL_ID_CHARACTERS_MAX } from "../../../../src/domain/shared/model-ids.ts";
import { KEY_CHARACTERS_MAX } from "../../../../src/platform/text/object-reader.ts";
import { PROBLEMS_MAX } from "../../../../src/platform/text/problem-list.ts";
import {
  detailOf,
  documentWith,
  type Json,
  packageWith,
  pointersOf,
  problemsOf,
  readDocument,
  VERSION_CAPABILITIES,
} from "./document-builders.ts";

const codex = (policy: Json): Json => documentWith({ harnesses: { codex: policy } });
const mcp = (...servers: unknown[]): Json => codex({ mcp: servers });
const entries = (count: number, value: unknown): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
const read = (input: unknown) => readDocument(input).document;

describe("valid documents", () => {
  test("the smallest one gets every default", () => {
    expect(read(documentWith())).toEqual({
      revision: "any",
      contract_version: 1,
      required: false,
      allowed_harnesses: [],
      harnesses: {},
      packages: [],
    });
  });

  test("the safe default allows every harness and requires nothing", () => {
    const { document, problems } = readDocument(safeDefault(), { gateway: false });
    expect(problems).toEqual([]);
    expect(document).toEqual(safeDefault());
    expect(document?.allowed_harnesses).toEqual(["codex", "claude", "kimi", "opencode"]);
  });

  test("one with every member is returned unchanged", () => {
    const full = {
      revision: "8f3c",
      contract_version: 3,
      required_capabilities: [
        ...VERSION_CAPABILITIES,
        "unverified_harness_versions",
        "gateway_inference_jwt",
        "tenant_client_version_pin",
      ],
      minimum_client_version: "0.1.0",
      required_client_version: "1.2.3-rc.1",
      ttl_seconds: 600,
      required: true,
      allowed_harnesses: ["claude", "codex"],
      harnesses: {
        codex: {
          version_requirement: ">=0.120.0",
          allow_unverified_versions: true,
          managed_config: {
            model: "m",
            auto_approve: true,
            fast_mode: false,
            of_its_own: { deep: [1, null] },
          },
          mcp: [
            { name: "local", command: "run", args: ["a\nb"], env: { KEY: "line\nline" }, disabled: true },
            { name: "remote", url: "https://mcp.example.com/sse", transport: "sse", disabled: false },
          ],
          package_overrides: { one: { enabled: false, settings: { a: 1 } }, two: { settings: {} } },
        },
        kimi: { managed_config: {}, mcp: [], package_overrides: {} },
      },
      packages: [packageWith({}), packageWith({}, "two")].map((entry) => ({ ...entry, settings: {} })),
      gateway: { type: "litellm", auth_style: "bearer" },
      session_upload: { presign_url: "https://control.example.com/session-uploads/presign" },
      telemetry: { sink_url: "http://localhost:4318" },
    };
    expect(problemsOf(full)).toEqual([]);
    const document: unknown = read(full);
    expect(document).toEqual(full);
    expect(Value.Errors(limits.GovernanceConfig, document).First()).toBeUndefined();
  });
});

describe("alternative spellings", () => {
  const rows: [string, Json, Json][] = [
    [
      "null counts as absent where a text or a flag may be",
      { minimum_client_version: null, required: null, gateway: null, session_upload: null },
      {},
    ],
    [
      "harnesses named twice count once",
      { allowed_harnesses: ["kimi", "codex", "kimi"] },
      { allowed_harnesses: ["kimi", "codex"] },
    ],
    [
      "capabilities named twice count once",
      { required_capabilities: ["versioned_state", "versioned_state"] },
      { required_capabilities: ["versioned_state"] },
    ],
    ["no capabilities are not mentioned", { required_capabilities: [] }, {}],
    [
      "auth_style of the gateway may be left out",
      { gateway: { type: "litellm" }, required_capabilities: ["gateway_inference_jwt"] },
      {
        gateway: { type: "litellm", auth_style: "bearer" },
        required_capabilities: ["gateway_inference_jwt"],
      },
    ],
  ];
  test.each(rows)("%s", (_name, members, expected) => {
    const document: unknown = read(documentWith(members));
    expect(document).toEqual({ ...read(documentWith()), ...expected });
  });

  test("fills absent settings of a harness with defaults and omits members that are only defaults", () => {
    const document = read(
      codex({
        allow_unverified_versions: false,
        managed_config: { model: null, auto_approve: null, other: null },
        mcp: [{ name: " a ", command: "run", url: " ", args: [], env: {} }],
      }),
    );
    const policy: unknown = document?.harnesses.codex;
    expect(policy).toEqual({
      managed_config: { other: null },
      mcp: [{ name: " a ", command: "run", disabled: false }],
      package_overrides: {},
    });
  });
});

describe("names invalid places by their pointer", () => {
  const rows: [string, unknown, string[]][] = [
    ["no object", "one", [""]],
    ["null", null, [""]],
    ["a list", [], [""]],
    ["no revision", {}, ["/revision"]],
    ["a revision that is a number", { revision: 1 }, ["/revision"]],
    ["an unknown member", documentWith({ alowed_harnesses: [] }), ["/alowed_harnesses"]],
    ["a contract version of 0", documentWith({ contract_version: 0 }), ["/contract_version"]],
    ["a contract version as a text", documentWith({ contract_version: "3" }), ["/contract_version"]],
    ["half a contract version", documentWith({ contract_version: 1.5 }), ["/contract_version"]],
    [
      "an unknown capability",
      documentWith({ required_capabilities: ["versioned_state", "flying"] }),
      ["/required_capabilities/1"],
    ],
    [
      "capabilities as a text",
      documentWith({ required_capabilities: "versioned_state" }),
      ["/required_capabilities"],
    ],
    ["capabilities that are null", documentWith({ required_capabilities: null }), ["/required_capabilities"]],
    [
      "a partial minimum version",
      documentWith({ minimum_client_version: "1.2" }),
      ["/minimum_client_version"],
    ],
    [
      "a minimum version with a v",
      documentWith({ minimum_client_version: "v1.2.3" }),
      ["/minimum_client_version"],
    ],
    [
      "a pin that is a range",
      documentWith({ required_client_version: "^1.2.3" }),
      ["/required_client_version"],
    ],
    [
      "a pin that is not a canonical version",
      documentWith({ required_client_version: "1.02.3" }),
      ["/required_client_version"],
    ],
    ["required as a text", documentWith({ required: "true" }), ["/required"]],
    [
      "an alias of a harness",
      documentWith({ allowed_harnesses: ["codex", "claude-code"] }),
      ["/allowed_harnesses/1"],
    ],
    ["an unknown harness", documentWith({ harnesses: { vim: {} } }), ["/harnesses/vim"]],
    ["an alias as a key", documentWith({ harnesses: { "open-code": {} } }), ["/harnesses/open-code"]],
    ["a harness that is null", documentWith({ harnesses: { codex: null } }), ["/harnesses/codex"]],
    ["harnesses as a list", documentWith({ harnesses: [] }), ["/harnesses"]],
    ["an unknown member of a harness", codex({ skills: [] }), ["/harnesses/codex/skills"]],
    ["an empty requirement", codex({ version_requirement: "" }), ["/harnesses/codex/version_requirement"]],
    [
      "a requirement joined by blanks",
      codex({ version_requirement: ">=1 <2" }),
      ["/harnesses/codex/version_requirement"],
    ],
    [
      "opting in without a requirement",
      codex({ allow_unverified_versions: true }),
      ["/harnesses/codex/allow_unverified_versions"],
    ],
    ["settings as a list", codex({ managed_config: [] }), ["/harnesses/codex/managed_config"]],
    [
      "settings of the wrong type",
      codex({ managed_config: { model: 1, fast_mode: "yes", other: 1 } }),
      ["/harnesses/codex/managed_config/model", "/harnesses/codex/managed_config/fast_mode"],
    ],
    [
      "a setting that JSON cannot carry",
      codex({ managed_config: { other: Number.NaN } }),
      ["/harnesses/codex/managed_config/other"],
    ],
    [
      "an override that is a flag",
      codex({ package_overrides: { one: false } }),
      ["/harnesses/codex/package_overrides/one"],
    ],
    [
      "an unknown member of an override",
      codex({ package_overrides: { one: { enable: true } } }),
      ["/harnesses/codex/package_overrides/one/enable"],
    ],
    ["packages that are null", documentWith({ packages: null }), ["/packages"]],
    [
      "a package's own places",
      documentWith({ packages: [packageWith({}), { ...packageWith({}), version: "" }] }),
      ["/packages/1/id", "/packages/1/version"],
    ],
    ["a foreign gateway", documentWith({ gateway: { type: "other" } }), ["/gateway/type"]],
    [
      "a gateway of another style",
      documentWith({ gateway: { type: "litellm", auth_style: "basic" } }),
      ["/gateway/auth_style"],
    ],
    [
      "a member for delivery only",
      documentWith({ gateway: { type: "litellm", token: "a", proxy_url: "b" } }),
      ["/gateway/proxy_url", "/gateway/token"],
    ],
    [
      "an unknown member of the gateway",
      documentWith({ gateway: { type: "litellm", model: "a" } }),
      ["/gateway/model"],
    ],
    ["an upload without a URL", documentWith({ session_upload: {} }), ["/session_upload/presign_url"]],
    ["an upload that is a text", documentWith({ session_upload: "https://a" }), ["/session_upload"]],
    [
      "a URL of another scheme",
      documentWith({ telemetry: { sink_url: "ftp://a.example" } }),
      ["/telemetry/sink_url"],
    ],
    ["a URL without a host", documentWith({ telemetry: { sink_url: "https:a" } }), ["/telemetry/sink_url"]],
    [
      "reserved keys",
      JSON.parse(
        '{"revision":"a","__proto__":{},"harnesses":{"__proto__":{},"codex":{"managed_config":{"__proto__":{}},"mcp":[{"name":"a","command":"b","env":{"__proto__":"c"}}]}}}',
      ),
      [
        "/__proto__",
        "/harnesses/__proto__",
        "/harnesses/codex/managed_config/__proto__",
        "/harnesses/codex/mcp/0/env/__proto__",
      ],
    ],
  ];
  test.each(rows)("%s", (_name, input, pointers) => {
    expect(readDraft(input).problems.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(read(input)).toBeUndefined();
  });

  test("reports all problems together in the order of the document, each missing member once", () => {
    const input = documentWith({
      contract_version: 9,
      required_capabilities: ["adapter_interval"],
      minimum_client_version: "one",
      allowed_harnesses: ["claude", "codex"],
      harnesses: {
        claude: { version_requirement: "newest", package_overrides: { absent: {} } },
        codex: { version_requirement: ">=0.120.0", mcp: [{ name: "a" }] },
      },
      packages: [packageWith({ claude: { plugin_dir: "../up" } })],
      gateway: { type: "litellm", token: "a" },
      session_upload: { presign_url: "/relative" },
    });
    expect(pointersOf(input)).toEqual([
      "/contract_version",
      "/required_capabilities/0",
      "/minimum_client_version",
      "/harnesses/claude/version_requirement",
      "/harnesses/codex/mcp/0",
      "/packages/0/adapters/claude/plugin_dir",
      "/gateway/token",
      "/session_upload/presign_url",
    ]);
  });

  test("a draft keeps the readable part", () => {
    const { document, problems } = readDraft(documentWith({ ttl_seconds: -1, required: true }));
    expect(document.required).toBeTrue();
    expect(problems.map(({ pointer }) => pointer)).toEqual(["/ttl_seconds"]);
  });
});

describe("MCP servers", () => {
  const good = { name: "a", command: "run" };
  const at = (...places: string[]) => places.map((place) => `/harnesses/codex/mcp${place}`);
  const rows: [string, unknown[], string[]][] = [
    ["no name", [{ command: "run" }], ["/0/name"]],
    ["a blank name", [{ name: " ", command: "run" }], ["/0/name"]],
    ["two names that differ in blanks", [good, { ...good, name: " a " }], ["/1/name"]],
    ["neither command nor url", [{ name: "a" }], ["/0"]],
    ["blank command and url", [{ name: "a", command: " ", url: "" }], ["/0"]],
    ["both command and url", [{ ...good, url: "https://a.example" }], ["/0"]],
    ["a local one with a transport", [{ ...good, transport: "sse" }], ["/0/transport"]],
    [
      "a remote one with arguments and variables",
      [{ name: "a", url: "https://a.example", args: ["b"], env: { A: "b" } }],
      ["/0/args", "/0/env"],
    ],
    ["a URL of another scheme", [{ name: "a", url: "file:///etc/passwd" }], ["/0/url"]],
    ["an invalid URL", [{ name: "a", url: "https://" }], ["/0/url"]],
    ["arguments that are numbers", [{ ...good, args: ["a", 1] }], ["/0/args/1"]],
    ["a variable that is a number", [{ ...good, env: { A: 1 } }], ["/0/env/A"]],
    ["a NUL in an argument", [{ ...good, args: ["a\0"] }], ["/0/args/0"]],
    ["disabled as a text", [{ ...good, disabled: "no" }], ["/0/disabled"]],
    ["an unknown member", [{ ...good, headers: {} }], ["/0/headers"]],
    ["no object", ["a"], ["/0"]],
  ];
  test.each(rows)("%s", (_name, servers, places) => {
    expect(pointersOf(mcp(...servers))).toEqual(at(...places));
  });

  test("servers of different harnesses may have the same name", () => {
    const input = documentWith({ harnesses: { codex: { mcp: [good] }, kimi: { mcp: [good] } } });
    expect(problemsOf(input)).toEqual([]);
  });
});

describe("refuses endless nesting at its place", () => {
  const deep = Array.from({ length: 100_000 }).reduce<unknown>((inner) => ({ a: [inner] }), {});
  const rows: [string, Json, string][] = [
    [
      "as settings of a harness",
      codex({ managed_config: { deep } }),
      "/harnesses/codex/managed_config/deep/a/0/a/0",
    ],
    [
      "as settings of a package",
      documentWith({ packages: [{ ...packageWith({}), settings: { deep } }] }),
      "/packages/0/settings/deep/a/0",
    ],
    [
      "as settings of an override",
      codex({ package_overrides: { one: { settings: { deep } } } }),
      "/harnesses/codex/package_overrides/one/settings/deep",
    ],
    ["in place of a text", documentWith({ minimum_client_version: deep }), "/minimum_client_version"],
    ["as an argument", mcp({ name: "a", command: "b", args: [deep] }), "/harnesses/codex/mcp/0/args/0"],
    ["as an unknown member", documentWith({ unknown: deep }), "/unknown"],
  ];
  test.each(rows)("%s", (_name, input, pointer) => {
    const [problem, ...others] = readDraft(input).problems;
    expect(problem?.pointer).toStartWith(pointer);
    expect(others).toEqual([]);
  });
});

test("repeats no URL, command, variable or token in a problem", () => {
  const secret = "s3cr3t-value";
  const input = documentWith({
    gateway: { type: secret, token: secret, proxy_url: secret, auth_style: secret },
    session_upload: { presign_url: `ftp://u:${secret}@a.example` },
    telemetry: { sink_url: secret },
    harnesses: {
      codex: {
        mcp: [
          { name: "a", url: `file://${secret}`, env: { A: [secret] } },
          { name: "b", url: `https://${secret}`, command: secret, args: [{ a: secret }] },
          { name: "c", command: secret, env: { A: `${secret}\0` } },
        ],
      },
    },
  });
  expect(problemsOf(input).length).toBeGreaterThan(8);
  expect(JSON.stringify(problemsOf(input))).not.toContain(secret);
});

describe("limits: accepts below and at, refuses above", () => {
  const text = (count: number) => "a".repeat(count);
  const server = (members: Json) => mcp({ name: "a", command: "run", ...members });
  const rows: [string, number, (count: number) => Json][] = [
    ["seconds of ttl", limits.TTL_SECONDS_MAX, (ttl_seconds) => documentWith({ ttl_seconds })],
    ["contract version", 4, (contract_version) => documentWith({ contract_version })],
    ["characters of revision", limits.LABEL_CHARACTERS_MAX, (count) => ({ revision: text(count) })],
    [
      "capabilities",
      limits.CAPABILITIES_MAX,
      (count) => documentWith({ required_capabilities: Array(count).fill("versioned_state") }),
    ],
    [
      "allowed harnesses",
      limits.HARNESSES_MAX,
      (count) => documentWith({ allowed_harnesses: Array(count).fill("kimi") }),
    ],
    [
      "characters of a setting",
      limits.SETTING_CHARACTERS_MAX,
      (count) => codex({ managed_config: { model: text(count) } }),
    ],
    [
      "characters of a URL",
      limits.URL_CHARACTERS_MAX,
      (count) => documentWith({ telemetry: { sink_url: "https://a.example/".padEnd(count, "a") } }),
    ],
    [
      "models of a harness",
      limits.GATEWAY_MODELS_MAX,
      (count) => codex({ gateway_models: Array.from({ length: count }, (_, index) => `model-${index}`) }),
    ],
    [
      "characters of a model's id",
      MODEL_ID_CHARACTERS_MAX,
      (count) => codex({ gateway_models: [text(count)] }),
    ],
    [
      "MCP servers",
      limits.MCP_SERVERS_MAX,
      (count) => mcp(...Array.from({ length: count }, (_, index) => ({ name: `${index}`, command: "run" }))),
    ],
    ["arguments", limits.MCP_ARGUMENTS_MAX, (count) => server({ args: Array(count).fill("a") })],
    ["variables", limits.MCP_ARGUMENTS_MAX, (count) => server({ env: entries(count, "a") })],
    ["characters of an argument", limits.MCP_TEXT_CHARACTERS_MAX, (count) => server({ args: [text(count)] })],
    [
      "characters of a variable",
      limits.MCP_TEXT_CHARACTERS_MAX,
      (count) => server({ env: { A: text(count) } }),
    ],
    [
      "characters of a variable's name",
      KEY_CHARACTERS_MAX,
      (count) => server({ env: { [text(count)]: "a" } }),
    ],
    ["characters of a command", limits.MCP_TEXT_CHARACTERS_MAX, (count) => server({ command: text(count) })],
    ["characters of a server's name", limits.LABEL_CHARACTERS_MAX, (count) => server({ name: text(count) })],
  ];
  test.each(rows)("%s", (_name, limit, build) => {
    expect(pointersOf(build(limit - 1))).toEqual([]);
    expect(pointersOf(build(limit))).toEqual([]);
    expect(pointersOf(build(limit + 1))).toHaveLength(1);
  });

  test("overrides of one harness", () => {
    // Each is refused because its package is missing, unless there are too many to check.
    const detail = (count: number) => detailOf(codex({ package_overrides: entries(count, {}) }));
    expect(detail(limits.OVERRIDES_MAX)).toContain("is not a package");
    expect(detail(limits.OVERRIDES_MAX + 1)).toContain(`the limit is ${limits.OVERRIDES_MAX}`);
  });

  test("entries of harnesses", () => {
    const detail = (count: number) => detailOf(documentWith({ harnesses: entries(count, {}) }));
    expect(detail(limits.HARNESSES_MAX)).toContain("is not a harness");
    expect(detail(limits.HARNESSES_MAX + 1)).toContain(`the limit is ${limits.HARNESSES_MAX}`);
  });

  test("bytes of the whole document as JSON", () => {
    // Settings of many packages fill the document; the last one gives the exact size.
    const filled = (sizeBytes: number): Json => {
      const packages = Array.from({ length: 40 }, (_, index) => ({
        ...packageWith({}, `p${index}`),
        settings: { a: index === 0 ? "" : text(53_000) },
      }));
      const document = {
        ...documentWith({ contract_version: 1, required: false, allowed_harnesses: [], harnesses: {} }),
        packages,
      };
      const missing = sizeBytes - Buffer.byteLength(JSON.stringify(document));
      return {
        ...document,
        packages: packages.with(0, { ...packageWith({}, "p0"), settings: { a: text(missing) } }),
      };
    };
    expect(pointersOf(filled(limits.DOCUMENT_BYTES_MAX - 1))).toEqual([]);
    expect(pointersOf(filled(limits.DOCUMENT_BYTES_MAX))).toEqual([]);
    expect(detailOf(filled(limits.DOCUMENT_BYTES_MAX + 1))).toContain("2097153 bytes");
  });

  test("listed problems", () => {
    const wrong = (count: number) => problemsOf({ revision: "a", ...entries(count, 1) });
    expect(wrong(PROBLEMS_MAX)).toHaveLength(PROBLEMS_MAX);
    expect(wrong(PROBLEMS_MAX + 7).at(-1)?.detail).toBe("and 7 more");
  });
});
