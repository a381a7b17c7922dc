// The layouts that are proposed from the folders of an archive; each is one that the rules of packages accept.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readArchiveFacts } from "../../../../src/domain/catalog/archive/archive-facts.ts";
import { HELPERS_MAX, PLUGINS_MAX } from "../../../../src/domain/catalog/model.ts";
import { proposeAdapters } from "../../../../src/domain/catalog/packages/layout-proposal.ts";
import { checkPackages } from "../../../../src/domain/catalog/packages/package-rules.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";

const propose = (...files: string[]) => proposeAdapters(files, HARNESSES);
const NOTHING = { plugins: [], helpers: {} };

/** @returns the problems of a package with the adapters */
const problemsOf = (adapters: object) =>
  checkPackages([{ id: "one", version: "1", source_ref: "one.tar.gz", sha256: "ab".repeat(32), adapters }])
    .problems;

test("the example of the catalog gets the layouts that its file has", async () => {
  const path = join(import.meta.dir, "../../../../src/domain/catalog/example/review-guide-1.2.0.tar.gz");
  const { files } = await readArchiveFacts(new Blob([readFileSync(path)]).stream());
  expect(propose(...files)).toEqual({
    codex: { plugin_dir: "plugin", ...NOTHING },
    claude: { introduced: "2.0.12", plugin_dir: "plugin", ...NOTHING },
    kimi: { skills_dir: "plugin/skills", ...NOTHING },
    opencode: { skills_dir: "plugin/skills", plugins: ["plugins/review-guide.ts"], helpers: {} },
  });
});

test.each<[string, string[], string | undefined]>([
  ["the folder of skills", ["skills/one/SKILL.md"], "skills"],
  ["the folder of several skills, under any name", ["guides/a/SKILL.md", "guides/b/SKILL.md"], "guides"],
  ["the folder of the only skill", ["review/SKILL.md"], "review"],
  ["the root of the archive", ["SKILL.md", "notes.md"], "."],
  ["the skills nearest to the root", ["examples/skills/x/SKILL.md", "skills/y/SKILL.md"], "skills"],
  ["nothing", ["skills/readme.md"], undefined],
])("skills are %s", (_, files, skills) => {
  expect(propose(...files).codex?.skills_dir).toBe(skills);
});

test("agents and hooks are proposed if the harness accepts them without a plugin", () => {
  const files = ["pack/agents/reviewer.md", "pack/hooks/hooks.json"];
  expect(propose(...files)).toEqual({
    kimi: { agents_dir: "pack/agents", hooks_file: "pack/hooks/hooks.json", ...NOTHING },
    opencode: { agents_dir: "pack/agents", ...NOTHING },
  });
});

test("a plugin at the root of the archive has everything for the harnesses with plugins", () => {
  const files = [".claude-plugin/plugin.json", "skills/a/SKILL.md", "hooks/hooks.json"];
  expect(propose(...files)).toMatchObject({
    codex: { plugin_dir: "." },
    claude: { plugin_dir: ".", introduced: "2.0.12" },
    kimi: { skills_dir: "skills", hooks_file: "hooks/hooks.json" },
    opencode: { skills_dir: "skills" },
  });
});

test("helpers are the files below bin, by platform where its folders name known ones", () => {
  const files = [
    "bin/linux-x86_64/ticket",
    "bin/windows-x86_64/ticket.exe",
    "bin/lint",
    "bin/amiga-68k/ticket",
  ];
  const helpers = {
    ticket: {
      paths: { "linux-x86_64": "bin/linux-x86_64/ticket", "windows-x86_64": "bin/windows-x86_64/ticket.exe" },
    },
    lint: { paths: { default: "bin/lint" } },
  };
  for (const adapter of Object.values(propose(...files))) expect(adapter).toEqual({ plugins: [], helpers });
  expect(Object.keys(propose(...files))).toHaveLength(HARNESSES.length);
});

test.each([-1, 0, 1])("a proposal stays within the limits of a layout: %p", (more) => {
  const named = (folder: string, count: number, end: string) =>
    Array.from({ length: count }, (_, at) => `${folder}/n${at}${end}`);
  const files = [...named("plugins", PLUGINS_MAX + more, ".ts"), ...named("bin", HELPERS_MAX + more, "")];
  const { opencode } = propose(...files);
  expect([opencode?.plugins.length, Object.keys(opencode?.helpers ?? {}).length]).toEqual([
    Math.min(PLUGINS_MAX, PLUGINS_MAX + more),
    Math.min(HELPERS_MAX, HELPERS_MAX + more),
  ]);
  expect(problemsOf(propose(...files))).toEqual([]);
});

test("proposes nothing for no files, and every proposal is a valid package", () => {
  expect(propose()).toEqual({});
  const everything = [
    ".codex-plugin/plugin.json",
    "skills/a/SKILL.md",
    "agents/a.md",
    "hooks/hooks.json",
    "plugin/a.mjs",
    "bin/tool",
  ];
  for (let mask = 0; mask < 2 ** everything.length; mask++)
    expect(problemsOf(propose(...everything.filter((_, at) => mask & (1 << at))))).toEqual([]);
});
