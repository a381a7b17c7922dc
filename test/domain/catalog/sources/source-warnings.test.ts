// Sources in a package list that workstations will not follow: a warning for each place, without repeating the URL.
import { describe, expect, test } from "bun:test";
import type { ManagedPackage } from "../../../../src/domain/catalog/model.ts";
import { CLIENT_PLATFORMS, sourceWarnings } from "../../../../src/domain/catalog/sources/source-warnings.ts";

const PUBLIC = "https://packages.example.org/tool.tar.gz";
const sha256 = "a".repeat(64);
const packageOf = (members: Partial<ManagedPackage> = {}): ManagedPackage => ({
  id: "tool",
  version: "1",
  source_ref: PUBLIC,
  sha256,
  settings: {},
  adapters: {},
  ...members,
});
const warningsOf = (members: Partial<ManagedPackage>, local?: string) =>
  sourceWarnings([packageOf(members)], local === undefined ? {} : { local });

describe("a source", () => {
  test.each([
    ["https://ana:secret@packages.example.org/tool.tar.gz", "holds a user name or password"],
    ["https://ana@packages.example.org/tool.tar.gz", "holds a user name or password"],
    [`${PUBLIC}#v1`, "has a fragment"],
    ["https://packages.example.org/%zz/tool.tar.gz", "has a % without two hexadecimal digits"],
    ["https://packages.example.org/tool.tar.gz?part=1%2", "has a % without two hexadecimal digits"],
    ["https://localhost/tool.tar.gz", "names a host that is not public"],
    ["https://LOCALHOST./tool.tar.gz", "names a host that is not public"],
    ["https://build.local/tool.tar.gz", "names a host that is not public"],
    ["https://127.0.0.1/tool.tar.gz", "names a host that is not public"],
    ["https://10.1.2.3/tool.tar.gz", "names a host that is not public"],
    ["https://[::1]/tool.tar.gz", "names a host that is not public"],
  ])("%s causes a warning", (source_ref, detail) => {
    const warnings = warningsOf({ source_ref });
    expect(warnings).toEqual([{ pointer: "/0/source_ref", detail: expect.stringContaining(detail) }]);
    expect(JSON.stringify(warnings)).not.toContain("ana");
  });

  test.each([
    PUBLIC,
    "https://packages.example.org/100%25%2f%2F.tar.gz",
    "https://93.184.216.34/tool.tar.gz",
    "https://[2606:4700::1]/tool.tar.gz",
  ])("%s is not", (source_ref) => {
    expect(warningsOf({ source_ref })).toEqual([]);
  });

  test("is only informative if the archive is stored here or platforms have their own", () => {
    const source_ref = "https://localhost/tool.tar.gz";
    expect(warningsOf({ source_ref, artifact_id: crypto.randomUUID() })).toEqual([]);
    const platform_sources = { "linux-x86_64": { source_ref: PUBLIC, sha256 } };
    expect(warningsOf({ source_ref, platform_sources })).toEqual([]);
  });

  test("warns about a source that is a file if workstations would need it", () => {
    expect(warningsOf({ source_ref: "/srv/tool.tar.gz" })).toEqual([]);
    const warnings = warningsOf({ source_ref: "/srv/tool.tar.gz" }, "must lie there");
    expect(warnings).toEqual([{ pointer: "/0/source_ref", detail: "must lie there" }]);
  });
});

describe("a platform", () => {
  const source = { source_ref: PUBLIC, sha256 };
  const helpers = (platform: string) => ({ tool: { paths: { [platform]: "bin/tool" } } });

  test.each(CLIENT_PLATFORMS)("%s is asked for", (platform) => {
    expect(warningsOf({ platform_sources: { [platform]: source } })).toEqual([]);
  });

  test("warns about a platform that no client requests wherever it is named", () => {
    const warnings = warningsOf({
      platform_sources: { "darwin-arm64": source },
      adapters: {
        codex: {
          plugins: [],
          helpers: helpers("linux-amd64"),
          variants: [{ introduced: "1.0.0", plugins: [], helpers: helpers("win32-x86_64") }],
        },
      },
    });
    expect(warnings.map(({ pointer }) => pointer)).toEqual([
      "/0/platform_sources/darwin-arm64",
      "/0/adapters/codex/helpers/tool/paths/linux-amd64",
      "/0/adapters/codex/variants/0/helpers/tool/paths/win32-x86_64",
    ]);
  });

  test("may be missing for a helper", () => {
    const adapters = { codex: { plugins: [], helpers: helpers("default") } };
    expect(warningsOf({ adapters })).toEqual([]);
  });
});
