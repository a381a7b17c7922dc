// The harness registry: its own consistency, and which component sets each generation takes.

import { describe, expect, test } from "bun:test";
import { compare } from "semver";
import {
  acceptsComponents,
  type Component,
  getHarness,
  HARNESS_KEYS,
  HARNESSES,
  isHarnessKey,
} from "../../../src/domain/harnesses/harnesses.ts";

const generations = HARNESSES.flatMap((harness) => [...harness.generations]);
const acceptedBy = (...components: Component[]): string[] =>
  generations
    .filter((generation) => acceptsComponents(generation, new Set(components)))
    .map(({ profile }) => profile);
const codex = ["codex-v0_0_0", "codex-v0_114_0", "codex-v0_145_0"];
const claude = ["claude-v0_0_0", "claude-v1_0_38", "claude-v2_0_12"];
const newestClaude = "claude-v2_0_12";
const others = ["kimi-v0_0_0", "opencode-v0_0_0"];

describe("the registry", () => {
  test("lists every key once, in published order", () => {
    expect(HARNESSES.map(({ key }) => key)).toEqual([...HARNESS_KEYS]);
  });

  test.each(HARNESSES)(
    "$key: generations follow each other without a gap and the last is open",
    ({ generations }) => {
      expect(generations[0].introduced).toBe("0.0.0");
      expect(generations.slice(1).map(({ introduced }) => introduced)).toEqual(
        generations.slice(0, -1).map(({ before }) => before ?? "open"),
      );
      expect(generations.at(-1)?.before).toBeNull();
      for (const one of generations) expect(compare(one.verifiedBefore, one.introduced)).toBe(1);
    },
  );

  test.each(HARNESSES)(
    "$key: the install command has one place for the version",
    ({ installCommandTemplate }) => {
      expect(installCommandTemplate.split("{version}")).toHaveLength(2);
    },
  );

  test("capabilities are in the published order", () => {
    expect(getHarness("kimi").generations[0].capabilities).toEqual([
      ...(["mcp", "packages", "skills", "agents", "hooks", "helpers", "gateway"] as const),
      ...(["session_upload", "session_start", "session_resume"] as const),
    ]);
    expect(getHarness("claude").generations[0].capabilities).toEqual([
      "mcp",
      "packages",
      "helpers",
      "gateway",
    ]);
  });

  test.each(["claude-code", "open-code", "Codex", "", "__proto__", "toString"])("%p is not a key", (text) => {
    expect(isHarnessKey(text)).toBe(false);
  });
});

describe("component sets", () => {
  const rows: [string, Component[], string[]][] = [
    ["nothing", [], [...codex, ...claude, ...others]],
    ["helpers", ["helpers"], [...codex, ...claude, ...others]],
    ["skills", ["skills_dir"], [...codex, newestClaude, ...others]],
    ["plugin modules", ["plugins"], [...codex, newestClaude, ...others]],
    ["a plugin", ["plugin_dir"], [...codex, newestClaude, ...others]],
    ["agents alone", ["agents_dir"], others],
    ["agents in a plugin", ["agents_dir", "plugin_dir"], [...codex, newestClaude, ...others]],
    ["hooks alone", ["hooks_file"], ["claude-v1_0_38", "kimi-v0_0_0"]],
    ["hooks in a plugin", ["hooks_file", "plugin_dir"], [...codex, newestClaude, "kimi-v0_0_0"]],
    ["hooks beside skills", ["hooks_file", "skills_dir"], ["kimi-v0_0_0"]],
  ];
  test.each(rows)("%s", (_name, components, expected) => {
    expect(acceptedBy(...components)).toEqual(expected);
  });

  test("the published rules of the newest generations", () => {
    const rules = HARNESSES.map(({ generations }) => Object.values(generations.at(-1)?.componentRules ?? {}));
    expect(rules).toEqual([
      [true, true, false],
      [true, true, false],
      [false, false, false],
      [false, false, true],
    ]);
  });
});

test("INF-53 Claude and OpenCode offer every assigned model in each generation, Codex and Kimi only the selected one", () => {
  const exposures = HARNESSES.map(({ key, generations }) => [
    key,
    new Set(generations.map(({ exposure }) => exposure)),
  ]);
  expect(Object.fromEntries(exposures)).toEqual({
    codex: new Set(["selected_only"]),
    claude: new Set(["catalog"]),
    kimi: new Set(["selected_only"]),
    opencode: new Set(["catalog"]),
  });
});
