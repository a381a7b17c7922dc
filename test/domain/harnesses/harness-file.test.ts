// A harness file may only add to the facts of the program: what it may contain, what it may not, and its effect.
import { describe, expect, test } from "bun:test";
import { rulesOf } from "../../../src/domain/clients/verdict/verdict-cache.ts";
import { checkVersion } from "../../../src/domain/governance/versions/versions.ts";
import { extendHarnesses } from "../../../src/domain/harnesses/harness-extension.ts";
import {
  GENERATIONS_ADDED_MAX,
  HARNESS_FILE_BYTES_MAX,
  HARNESS_FILE_FORMAT,
  HARNESS_FILE_TOKENS_MAX,
  HARNESS_VERSION_CHARACTERS_MAX,
  NAMES_MAX,
  readHarnessFile,
} from "../../../src/domain/harnesses/harness-file.ts";
import { acceptsComponents, HARNESSES } from "../../../src/domain/harnesses/harnesses.ts";
import { DomainError } from "../../../src/platform/errors.ts";

const HEAD = `format: ${HARNESS_FILE_FORMAT}\nharnesses:\n`;
const read = (text: string) => readHarnessFile(Buffer.from(text), "agents.yaml");
const harnessesOf = (body: string) => extendHarnesses(read(HEAD + body));
const generationsIn = (body: string, key: string) =>
  harnessesOf(body).find((harness) => harness.key === key)?.generations ?? [];

/** @returns the problems, each as line and detail */
function problemsIn(text: string): string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason !== "harnesses.invalid") throw error;
    return error.problems.map(({ line, detail }) => `${line}: ${detail}`);
  }
}

const generations = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `      - {introduced: 1.${at}.0, verified_before: 1.${at + 1}.0-0}\n`,
  ).join("");

test("a file may have a limited number of YAML tokens", () => {
  // An empty line is one token; the first line is five.
  const problems = [-1, 0, 1].map((step) =>
    problemsIn(`[] #${"\n".repeat(HARNESS_FILE_TOKENS_MAX + step - 5)}`),
  );
  expect(problems.map(([first]) => first?.includes("words and marks"))).toEqual([false, false, true]);
});

test.each([-1, 0, 1])("a list may have %i names more than the limit only up to it", (step) => {
  const names = Array(NAMES_MAX + step)
    .fill("skills_dir")
    .join(", ");
  const generation = `{introduced: 9.0.0, verified_before: 9.1.0-0, allowed_components: [${names}]}`;
  const problems = problemsIn(`${HEAD}  opencode:\n    generations:\n      - ${generation}\n`);
  expect(problems.some((problem) => problem.includes(`the limit is ${NAMES_MAX}`))).toBe(step > 0);
});

describe("a valid file", () => {
  test("raises the ceiling of the newest generation and changes nothing else", () => {
    const raised = generationsIn("  codex: {verified_before: 0.160.0-0}\n", "codex");
    const own = HARNESSES[0]?.generations ?? [];
    expect(raised.slice(0, -1)).toEqual(own.slice(0, -1));
    expect(raised.at(-1)).toEqual({ ...own.at(-1), verifiedBefore: "0.160.0-0" } as never);
  });

  test("adds generations that start where the previous one ends and inherit its facts", () => {
    const found = generationsIn(
      `  claude:
    generations:
      - introduced: 2.2.0
        before: 2.3.0
        verified_before: 2.3.0-0
        capabilities: [hooks, mcp]
        allowed_components: [helpers, plugin_dir]
      - introduced: 2.3.0
        verified_before: 2.4.0-0
        component_rules: {hooks_as_plugin_modules: true}
`,
      "claude",
    );
    expect(found.map(({ profile, before }) => [profile, before])).toEqual([
      ["claude-v0_0_0", "1.0.38"],
      ["claude-v1_0_38", "2.0.12"],
      ["claude-v2_0_12", "2.2.0"],
      ["claude-v2_2_0", "2.3.0"],
      ["claude-v2_3_0", null],
    ]);
    expect(found.at(-1)?.capabilities).toEqual(["mcp", "hooks"]);
    expect(found.at(-1)?.componentRules).toEqual({
      agents_require_plugin: true,
      hooks_require_plugin: true,
      hooks_as_plugin_modules: true,
    });
    const [, , own, added] = found;
    if (!own || !added) throw new Error("too few generations");
    expect(acceptsComponents(own, new Set(["skills_dir"]))).toBe(true);
    expect(acceptsComponents(added, new Set(["skills_dir"]))).toBe(false);
  });

  test("certifies versions that the program refuses, up to the new ceiling", () => {
    const faultOf = (version: string, body: string) =>
      checkVersion(harnessesOf(body), undefined, "codex", version);
    const body = "  codex: {verified_before: 0.160.0-0}\n";
    expect(checkVersion(HARNESSES, undefined, "codex", "0.159.0")).toContain("is not certified");
    expect(faultOf("0.159.0", body)).toBeUndefined();
    expect(faultOf("0.160.0", body)).toContain("certified are versions below 0.160.0-0");
  });

  test("changes the name of the rules by which verdicts are renewed; the name stays without a file", () => {
    const raised = harnessesOf("  codex: {verified_before: 0.160.0-0}\n");
    expect(rulesOf(raised)).not.toBe(rulesOf(HARNESSES));
    expect(extendHarnesses({})).toBe(HARNESSES);
  });

  test("may be JSON, and may repeat the program's own ceiling", () => {
    const text = JSON.stringify({
      format: HARNESS_FILE_FORMAT,
      harnesses: { codex: { verified_before: "0.151.1-0" } },
    });
    expect(extendHarnesses(read(text))).toEqual([...HARNESSES]);
  });
});

describe("an invalid file is refused with the line of", () => {
  test.each([
    [
      "a ceiling below the program's",
      "  codex:\n    verified_before: 0.151.0\n",
      "4: 0.151.0 is below 0.151.1-0",
    ],
    ["a harness that there is not", "  codx: {verified_before: 1.0.0}\n", "3: is not a harness"],
    ["an alias", "  claude-code: {verified_before: 9.0.0}\n", "3: is only an alias; write claude"],
    ["an invalid version", "  codex: {verified_before: '0.160'}\n", '3: "0.160" is not a full version'],
    ["an entry that adds nothing", "  codex: {}\n", "3: adds nothing"],
    ["an unknown member", "  codex: {ceiling: 1.0.0, verified_before: 1.0.0}\n", "3: is not a known member"],
    [
      "a generation within a certified one",
      "  codex:\n    generations:\n      - {introduced: 0.150.0, verified_before: 0.152.0-0}\n",
      "5: 0.150.0 is below 0.151.1-0",
    ],
    [
      "a generation that begins with a pre-release",
      "  codex:\n    generations:\n      - {introduced: 0.152.0-rc.1, verified_before: 0.153.0-0}\n",
      "5: 0.152.0-rc.1 is a pre-release",
    ],
    [
      "a generation certified up to where it begins",
      "  codex:\n    generations:\n      - {introduced: 0.152.0, verified_before: 0.152.0}\n",
      "5: must be above 0.152.0",
    ],
    [
      "a generation without its ceiling",
      "  codex:\n    generations:\n      - {introduced: 0.152.0}\n",
      "5: is missing",
    ],
    [
      "generations out of order",
      "  kimi:\n    generations:\n      - {introduced: 2.0.0, verified_before: 2.1.0-0}\n      - {introduced: 1.0.0, verified_before: 1.1.0-0}\n",
      "6: 1.0.0 is below 2.1.0-0",
    ],
    [
      "an end that is not the next beginning",
      "  kimi:\n    generations:\n      - {introduced: 1.0.0, before: 1.9.0, verified_before: 1.1.0-0}\n      - {introduced: 2.0.0, verified_before: 2.1.0-0}\n",
      "5: must be 2.0.0",
    ],
    [
      "an end of the newest generation",
      "  kimi:\n    generations:\n      - {introduced: 1.0.0, before: 2.0.0, verified_before: 1.1.0-0}\n",
      "5: must be left out",
    ],
    [
      "components that the program refuses",
      "  opencode:\n    generations:\n      - introduced: 2.0.0\n        verified_before: 2.1.0-0\n        allowed_components: [hooks_file]\n",
      "7: hooks_file is refused by opencode-v0_0_0",
    ],
    [
      "a lifted rule",
      "  codex:\n    generations:\n      - introduced: 2.0.0\n        verified_before: 2.1.0-0\n        component_rules: {agents_require_plugin: false}\n",
      "7: is true in codex-v0_145_0",
    ],
    [
      "an unknown capability",
      "  codex:\n    generations:\n      - introduced: 2.0.0\n        verified_before: 2.1.0-0\n        capabilities: [flying]\n",
      '7: "flying" is not one of mcp,',
    ],
  ])("%s", (_, body, problem) => {
    const problems = problemsIn(HEAD + body);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toStartWith(problem);
  });

  test("all problems together, including those of the head", () => {
    expect(problemsIn("format: other\nharnesses:\n  codex: {verified_before: x}\n  kimi: {}\n")).toHaveLength(
      3,
    );
    expect(problemsIn("harnesses: {}\n")).toEqual(["1: is missing"]);
    expect(problemsIn(`format: ${HARNESS_FILE_FORMAT}\n`)).toEqual(["1: is missing"]);
    expect(problemsIn("format: [\n")[0]).toMatch(/^\d+: /);
  });
});

describe("limits", () => {
  test.each([
    [GENERATIONS_ADDED_MAX - 1, true],
    [GENERATIONS_ADDED_MAX, true],
    [GENERATIONS_ADDED_MAX + 1, false],
  ])("%i generations of one harness: accepted %p", (count, isAccepted) => {
    const problems = problemsIn(`${HEAD}  kimi:\n    generations:\n${generations(count)}`);
    expect(problems.length === 0).toBe(isAccepted);
  });

  test.each([
    [HARNESS_FILE_BYTES_MAX - 1, true],
    [HARNESS_FILE_BYTES_MAX, true],
    [HARNESS_FILE_BYTES_MAX + 1, false],
  ])("%i bytes: accepted %p", (size, isAccepted) => {
    const body = `${HEAD}  kimi: {verified_before: 1.0.0}\n#`;
    expect(problemsIn(body.padEnd(size, "x")).length === 0).toBe(isAccepted);
  });

  test.each([
    [HARNESS_VERSION_CHARACTERS_MAX - 1, true],
    [HARNESS_VERSION_CHARACTERS_MAX, true],
    [HARNESS_VERSION_CHARACTERS_MAX + 1, false],
  ])("a version of %i characters: accepted %p", (length, isAccepted) => {
    const problems = problemsIn(`${HEAD}  kimi: {verified_before: ${"1.0.0-a".padEnd(length, "b")}}\n`);
    expect(problems.length === 0).toBe(isAccepted);
  });
});
