// Documents as text: positions in the text, lines of problems, hostile text, and parsing.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readDraft } from "../../../../src/domain/governance/document/draft.ts";
import { stamp } from "../../../../src/domain/governance/document/stamp.ts";
import { DOCUMENT_TOKENS_MAX, readDocumentText } from "../../../../src/domain/governance/document/text.ts";
import { documentYaml, managedYaml } from "../../../../src/domain/governance/document/yaml.ts";
import { DOCUMENT_BYTES_MAX, type GovernanceConfig } from "../../../../src/domain/governance/model.ts";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  NUMBERED_OBJECT_MEMBERS,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "../../../../src/platform/json/shapes.ts";
import {
  findViolation,
  NAME_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
} from "../../../../src/platform/json/structure.ts";
import { EXCERPT_CHARACTERS_MAX } from "../../../../src/platform/text/problem-list.ts";
import { YAML_VALUES_MAX } from "../../../../src/platform/text/yaml-scan.ts";
import { YAML_DEPTH_MAX } from "../../../../src/platform/text/yaml-source.ts";
import {
  JSON_DEPTH_MAX,
  JSON_LIMITS,
  JSON_VALUES_MAX,
} from "../../../../src/server/http/bodies/body-text.ts";
import { documentWith, type Json, packageWith, readDocument } from "./document-builders.ts";

const draft = (members: Json = {}): GovernanceConfig => readDraft(documentWith(members)).document;

describe("the document in a text", () => {
  const plain = { revision: "a", required: true };
  const rows: [string, string, string, string[]][] = [
    ["is all of it", "revision: a\nrequired: true\n", "", []],
    ["is all of it as JSON", JSON.stringify(plain), "", []],
    ["is what a wrapper holds", "governance:\n  revision: a\n  required: true\n", "/governance", []],
    [
      "is one section of a deployment file",
      "gateway: { type: none }\ngovernance: { revision: a, required: true }\nserver: {}\n",
      "/governance",
      ["gateway", "server"],
    ],
  ];
  test.each(rows)("%s", (_name, text, root, otherSections) => {
    const found = readDocumentText(text);
    expect(found.problems).toEqual([]);
    expect(found.input).toEqual(plain);
    expect<string>(found.root).toBe(root);
    expect(found.otherSections).toEqual(otherSections);
  });

  test.each([
    ["a tag", `!${"x".repeat(100_000)} a`],
    ["a directive", `%${"x".repeat(100_000)}\n---\na`],
    ["a block header", `a: |${"x".repeat(100_000)}`],
  ])("has problems that repeat a part of %s at any length", (_name, text) => {
    const { problems } = readDocumentText(text);
    expect(problems.length).toBeGreaterThan(0);
    for (const { detail } of problems)
      expect(detail.split("x").length - 1).toBeLessThan(EXCERPT_CHARACTERS_MAX);
  });

  test("has problems with places and lines of the whole text", () => {
    const text = readDocumentText("x: 1\ngovernance:\n  revision: a\n  harnesses:\n    vim: {}\n  ttl: 5\n");
    expect(text.locate(readDraft(text.input).problems)).toMatchObject([
      { pointer: "/governance/ttl", line: 6 },
      { pointer: "/governance/harnesses/vim", line: 5 },
    ]);
  });

  test.each([`"`, `'`])("names the line where a quote %s opens that nothing closes", (quote) => {
    const text = `revision: "a"\nharnesses:\n  codex: ${quote}open\n  claude: {}\n`;
    expect(readDocumentText(text).problems).toMatchObject([{ line: 3 }]);
  });

  test.each(["", "  \n", "# nothing\n", "governance:\n"])("%p holds none", (text) => {
    const { input, problems } = readDocumentText(text);
    expect(problems).toEqual([]);
    expect(readDraft(input).problems).toMatchObject([{ pointer: "", detail: "must be an object, not null" }]);
  });
});

describe("hostile text yields problems, never a value", () => {
  const size = DOCUMENT_BYTES_MAX;
  const aliases = `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, index) => `a${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`)}]`).join("\n")}\n`;
  const rows: [string, string | Uint8Array, string][] = [
    ["nested lists", "[".repeat(size), "nested deeper"],
    ["nested maps", "{a: ".repeat(size / 4), "nested deeper"],
    ["nested JSON", '{"a":'.repeat(size / 8), "nested deeper"],
    ["aliases that multiply", aliases, "aliases are replaced"],
    ["a reserved key", "revision: a\nharnesses:\n  __proto__: { codex: {} }\n", "reserved key"],
    ["a key twice", "revision: a\nrevision: b\n", "a second time"],
    ["a key twice in JSON", '{"revision":"a","revision":"b"}', "a second time"],
    ["a reserved key in JSON", '{"harnesses":{"__proto__":{}}}', "reserved key"],
    ["a reserved key in JSON, escaped", '{"harnesses":{"\\u005f_proto__":{}}}', "reserved key"],
    ["a tag", "revision: !!js/function a\n", "unknown tag"],
    ["a second document", "revision: a\n---\nrevision: b\n", "second document"],
    ["no text", new Uint8Array([0xff, 0xfe]), "not UTF-8"],
  ];
  test.each(rows)("%s", (_name, text, detail) => {
    const { input, problems, otherSections } = readDocumentText(text);
    expect(input).toBeUndefined();
    expect(otherSections).toEqual([]);
    expect(problems[0]?.detail).toContain(detail);
  });
});

/** @returns text whose aliases expand to this many values and names */
function valuesText(count: number): string {
  const ones = Array(999).fill(1);
  const aliases = Math.floor((count - 1_004) / 1_000);
  const rest = [...Array(aliases).fill("*a"), ...Array((count - 1_004) % 1_000).fill(1)];
  return `a: &a [${ones}]\nb: [${rest}]\n`;
}

/** @returns text with a mapping of this many members */
const membersText = (count: number): string =>
  `a:\n${Array.from({ length: count }, (_, at) => `  k${at}: 1\n`).join("")}`;

/** @returns text with mappings of this many shapes, which aliases repeat */
const shapesText = (count: number): string =>
  `a: &a [${Array.from({ length: count - 2 }, (_, at) => `{x${at}: 1}`).join()}]\nb: *a\n`;

/** @returns text with this many members of mappings beyond the first ones; an alias repeats half of them */
function largeMappingsText(count: number): string {
  const mapping = (members: number) =>
    `{${Array.from({ length: SHAPE_MEMBERS_MAX + members }, (_, at) => `k${at}: 1`)}}`;
  const repeated = LARGE_OBJECT_MEMBERS_MAX / 4;
  return `- &a ${mapping(repeated)}\n- *a\n- ${mapping(repeated)}\n- ${mapping(count - 3 * repeated)}\n`;
}

/** @returns text whose mappings with whole numbers as keys count as this many more members; an alias repeats half of them */
function numberedText(count: number): string {
  const repeated = LARGE_OBJECT_MEMBERS_MAX / NUMBERED_OBJECT_MEMBERS / 2 - 1;
  const further = count - NUMBERED_OBJECT_MEMBERS * (2 * repeated + 1);
  const last = Array.from({ length: SHAPE_MEMBERS_MAX + further }, (_, at) =>
    at === 0 ? "0: 1" : `k${at}: 1`,
  );
  return `- &a [${Array(repeated).fill("{999: 1, 7: 1}")}]\n- *a\n- {${last}}\n`;
}

/** @returns text with a key of this many characters in JSON, half of them escapes */
const keyText = (count: number): string => `? "${"\\t".repeat(100)}${"k".repeat(count - 200)}"\n: 1\n`;

/** @returns text that has this many bytes as JSON, and half as many itself */
function jsonBytesText(count: number): string {
  const name = count % 2 === 0 ? "bb" : "b";
  return `a: &a ${"x".repeat((count - 14 - name.length) / 2)}\n${name}: *a\n`;
}

test("the limits of YAML are at least as strict as those of JSON", () => {
  expect(YAML_VALUES_MAX).toBeLessThanOrEqual(JSON_VALUES_MAX);
  expect(YAML_DEPTH_MAX).toBeLessThanOrEqual(JSON_DEPTH_MAX);
});

const levelsText = (count: number): string => `a: ${"[".repeat(count - 1)}${"]".repeat(count - 1)}`;

/** Empty lines are the tokens that are read fastest. */
const wordsText = (count: number): string => `[] #${"\n".repeat(count - 5)}`;

describe("limits: accepts below and at, refuses above; accepted text is also valid as JSON", () => {
  const rows: [string, number, (count: number) => string][] = [
    ["bytes", DOCUMENT_BYTES_MAX, (count) => "revision: a\n".padEnd(count, "#")],
    ["values and names", YAML_VALUES_MAX, valuesText],
    ["members", OBJECT_MEMBERS_MAX, membersText],
    ["different shapes", OBJECT_SHAPES_MAX, shapesText],
    [`members beyond the first ${SHAPE_MEMBERS_MAX}`, LARGE_OBJECT_MEMBERS_MAX, largeMappingsText],
    ["mappings with whole numbers as keys", LARGE_OBJECT_MEMBERS_MAX, numberedText],
    ["characters of a key", NAME_CHARACTERS_MAX, keyText],
    ["bytes as JSON", DOCUMENT_BYTES_MAX, jsonBytesText],
    ["levels", YAML_DEPTH_MAX, levelsText],
  ];
  test.each(rows)("%s", (_name, limit, build) => {
    expect(readDocumentText(build(limit - 1)).problems).toEqual([]);
    const { input, problems } = readDocumentText(build(limit));
    expect(problems).toEqual([]);
    expect(readDocumentText(build(limit + 1)).problems).toHaveLength(1);
    const json = JSON.stringify(input);
    expect(findViolation(json, JSON_LIMITS)).toBeUndefined();
    const again = readDocumentText(json);
    expect([again.problems, JSON.stringify(again.input) === json]).toEqual([[], true]); // fast for many values
  });

  test("YAML tokens, counted as in every YAML text", () => {
    // The YAML reader is tested below and at a smaller limit, because this one takes seconds to reach.
    expect(readDocumentText(wordsText(DOCUMENT_TOKENS_MAX + 1)).problems).toMatchObject([
      { detail: expect.stringContaining(`more than ${DOCUMENT_TOKENS_MAX} words and marks`) },
    ]);
  });
});

describe("a document as YAML", () => {
  const full = stamp(
    draft({
      required: true,
      ttl_seconds: 60,
      required_capabilities: ["unverified_harness_versions"],
      allowed_harnesses: ["codex"],
      harnesses: {
        kimi: { package_overrides: { one: { enabled: false } } },
        codex: {
          version_requirement: ">=0.120.0",
          managed_config: { model: "1.0" },
          mcp: [{ name: "a", command: "b" }],
        },
      },
      packages: [packageWith({ codex: {} })],
      session_upload: { presign_url: "https://a.example/presign" },
    }),
    { gateway: true, serverVersion: "0.1.0" },
  );

  test("is parsed back to the same document", () => {
    const { document } = readDocument(readDocumentText(documentYaml(full)).input);
    expect(document).toEqual(full);
  });

  test("is the same text for the same document, in any order of its members", () => {
    const reversed = Object.assign({}, Object.fromEntries(Object.entries(full).toReversed()), full);
    expect(Object.keys(reversed)).not.toEqual(Object.keys(full));
    expect(documentYaml(reversed)).toBe(documentYaml(full));
  });

  test("writes neither extensions nor stamps into the document to edit", () => {
    expect(managedYaml(full)).toBe(`revision: any
required_capabilities:
  - unverified_harness_versions
minimum_client_version: 0.1.0
ttl_seconds: 60
required: true
allowed_harnesses:
  - codex
harnesses:
  kimi:
    managed_config: {}
  codex:
    version_requirement: ">=0.120.0"
    managed_config:
      model: "1.0"
session_upload:
  presign_url: https://a.example/presign
`);
  });

  test("keeps a contract version that the author set in the document to edit", () => {
    expect(managedYaml(draft({ contract_version: 2 }))).toContain("contract_version: 2\n");
  });

  test("keeps every text and key unchanged", () => {
    const texts = fc
      .string({ unit: "binary", maxLength: 40 })
      .filter((text) => !text.includes("\0") && text.isWellFormed());
    const keys = fc.oneof(
      texts.filter((key) => key.length > 0),
      fc.constantFrom("<<", "null", "1", "constructor"),
    );
    const settings = fc.dictionary(
      keys.filter((key) => key !== "__proto__"),
      fc.oneof(texts, fc.jsonValue({ maxDepth: 2 })),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(settings, fc.array(texts), (managed_config, args) => {
        const servers = [{ name: "a", command: "b", args }];
        const { document, problems } = readDraft(
          documentWith({ harnesses: { codex: { managed_config, mcp: servers } } }),
        );
        fc.pre(problems.length === 0);
        const text = readDocumentText(documentYaml(document));
        expect(text.problems).toEqual([]);
        const read: unknown = text.input;
        expect(read).toEqual(document);
      }),
      { numRuns: 30 },
    );
  });
});
