// The published registry, compared with the facts that clients rely on, which are repeated here.
import { expect, test } from "bun:test";
import { harnessMetadata } from "../../../../src/domain/governance/document/harness-metadata.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import { parseVersion } from "../../../../src/domain/shared/exact-version.ts";

const { contract_version, harnesses } = harnessMetadata(HARNESSES);
const generations = harnesses.flatMap((harness) => harness.generations);
const every = "plugin_dir skills_dir agents_dir hooks_file plugins helpers";

test("every harness has its key, aliases, label, binary and package", () => {
  const rows = harnesses.map(({ key, aliases, label, binary_names, install_command_template }) =>
    [key, aliases.join(), label, binary_names.join(), install_command_template].join(" | "),
  );
  expect(contract_version).toBe(3);
  expect(rows).toEqual([
    "codex |  | Codex | codex | npm install -g '@openai/codex@{version}'",
    "claude | claude-code | Claude | claude | npm install -g '@anthropic-ai/claude-code@{version}'",
    "kimi |  | Kimi | kimi | npm install -g '@moonshot-ai/kimi-code@{version}'",
    "opencode | open-code | OpenCode | opencode | npm install -g 'opencode-ai@{version}'",
  ]);
});

test("every generation has its interval, ceiling and capabilities in order", () => {
  const rows = generations.map(({ profile, introduced, before, verified_before, lifecycle, capabilities }) =>
    [profile, introduced, before ?? "-", verified_before, lifecycle, capabilities.join(" ")].join(" | "),
  );
  expect(rows).toEqual([
    "codex-v0_0_0 | 0.0.0 | 0.114.0 | 0.114.0-0 | supported | mcp packages skills plugins hooks helpers gateway",
    "codex-v0_114_0 | 0.114.0 | 0.145.0 | 0.145.0-0 | supported | mcp packages skills plugins hooks helpers gateway session_start session_resume",
    "codex-v0_145_0 | 0.145.0 | - | 0.151.1-0 | supported | mcp packages skills plugins hooks helpers gateway session_upload session_start session_resume",
    "claude-v0_0_0 | 0.0.0 | 1.0.38 | 1.0.38-0 | supported | mcp packages helpers gateway",
    "claude-v1_0_38 | 1.0.38 | 2.0.12 | 2.0.12-0 | supported | mcp packages hooks helpers gateway",
    "claude-v2_0_12 | 2.0.12 | - | 2.1.253-0 | supported | mcp packages skills plugins hooks helpers gateway session_upload session_start session_resume",
    "kimi-v0_0_0 | 0.0.0 | - | 0.39.2-0 | supported | mcp packages skills agents hooks helpers gateway session_upload session_start session_resume",
    "opencode-v0_0_0 | 0.0.0 | - | 1.18.26-0 | supported | mcp packages skills agents plugins helpers gateway session_upload session_start session_resume",
  ]);
});

test("every generation lists the components it accepts, and which of them need a plugin", () => {
  const rows = generations.map(({ profile, allowed_components, component_rules }) => {
    const { agents_require_plugin, hooks_require_plugin, hooks_as_plugin_modules } = component_rules;
    const rules = [agents_require_plugin, hooks_require_plugin, hooks_as_plugin_modules].map(Number).join("");
    return `${profile} | ${rules} | ${allowed_components.join(" ")}`;
  });
  expect(rows).toEqual([
    `codex-v0_0_0 | 110 | ${every}`,
    `codex-v0_114_0 | 110 | ${every}`,
    `codex-v0_145_0 | 110 | ${every}`,
    "claude-v0_0_0 | 000 | helpers",
    "claude-v1_0_38 | 000 | hooks_file helpers",
    `claude-v2_0_12 | 110 | ${every}`,
    `kimi-v0_0_0 | 000 | ${every}`,
    `opencode-v0_0_0 | 001 | ${every.replace("hooks_file ", "")}`,
  ]);
});

test("a harness summarizes its generations: all capabilities sorted, the rules of the newest", () => {
  for (const { capabilities, component_rules, generations: own } of harnesses) {
    expect(capabilities).toEqual([...new Set(own.flatMap((one) => one.capabilities))].toSorted());
    expect(own.at(-1)?.component_rules).toEqual(component_rules);
  }
  expect(harnesses[1]?.capabilities.join(" ")).toBe(
    "gateway helpers hooks mcp packages plugins session_resume session_start session_upload skills",
  );
});

test("intervals consist of versions and follow each other without a gap", () => {
  for (const { generations: own } of harnesses) {
    expect(own[0]?.introduced).toBe("0.0.0");
    expect(own.slice(0, -1).map(({ before }) => before)).toEqual(
      own.slice(1).map(({ introduced }) => introduced),
    );
    for (const { verified_before } of own) expect(parseVersion(verified_before)).not.toBeNull();
  }
});
