// Catalog files of users and attackers: every hostile input gives a clear problem with its line.

import { describe, expect, test } from "bun:test";
import { CATALOG_FILE_BYTES_MAX, CATALOG_TOKENS_MAX } from "../../../../src/domain/catalog/model.ts";
import { parseCatalog, readCatalogText } from "../../../../src/domain/catalog/seed/catalog-document.ts";
import { DomainError, type Problem } from "../../../../src/platform/errors.ts";
import { ProblemList } from "../../../../src/platform/text/problem-list.ts";
import { YAML_EXPANSION_MAX, YAML_REFERENCES_MAX } from "../../../../src/platform/text/yaml-scan.ts";
import { parseYaml, YAML_DEPTH_MAX } from "../../../../src/platform/text/yaml-source.ts";

const DIGEST = "ab".repeat(32);
const ONE = `- id: one
  version: "1"
  source_ref: one.tar.gz
  sha256: ${DIGEST}
`;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const idsIn = (text: string): string[] => parseCatalog(bytesOf(text), "c.yaml").packages.map(({ id }) => id);

const failureOf = (file: string | Uint8Array): DomainError => {
  try {
    parseCatalog(typeof file === "string" ? bytesOf(file) : file, "c.yaml");
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("the file was taken");
};
const firstProblemOf = (file: string | Uint8Array): Problem | undefined => failureOf(file).problems[0];

describe("valid files", () => {
  const indented = ONE.replaceAll(/^/gm, "    ").trimEnd();
  const json = [{ id: "one", version: "1", source_ref: "one.tar.gz", sha256: DIGEST }];
  const rows: [string, string][] = [
    ["a plain list", ONE],
    [
      "a section of a deployment file with other sections",
      `governance: { x: [1] }\npackage_catalog:\n  packages:\n${indented}\n`,
    ],
    ["JSON", JSON.stringify(json)],
    ["JSON indented with tabs", JSON.stringify({ package_catalog: { packages: json } }, null, "\t")],
    ["JSON with escapes", JSON.stringify(json).replace("one.tar.gz", "a\\/\\ud83d\\ude00")],
    ["a byte order mark", `\ufeff${ONE}`],
    ["line ends of Windows", ONE.replaceAll("\n", "\r\n")],
    ["markers for the start and the end of the document", `---\n${ONE}...\n`],
    ["anchors and aliases", ONE.replace("id: one", "id: &a one\n  name: *a")],
    ["a key that only looks like a merge", `${ONE}  settings: { "<<": 1 }\n`],
    ["a directive for older YAML, which changes nothing", `%YAML 1.1\n---\n${ONE}  name: yes\n`],
  ];
  test.each(rows)("%s", (_name, text) => {
    expect(idsIn(text)).toEqual(["one"]);
  });

  test("merge keys apply a template to several packages", () => {
    const template = `x: &t { version: "1", source_ref: a, sha256: ${DIGEST} }`;
    expect(
      idsIn(`${template}\npackage_catalog:\n  packages: [{ <<: *t, id: a }, { <<: [*t], id: b }]\n`),
    ).toEqual(["a", "b"]);
  });

  test.each([
    "[]",
    "package_catalog: {}",
    "package_catalog:\n",
    "package_catalog:\n  packages:\n",
    "package_catalog: { packages: [] }",
  ])("%p contains no packages", (text) => {
    expect(idsIn(text)).toEqual([]);
  });
});

describe("files without a catalog", () => {
  const rows: [string, string, string, string][] = [
    ["empty", "", "", "the file is empty"],
    ["blanks only", " \n\n  \n", "", "the file is empty"],
    ["comments only", "# nothing\n# here\n", "", "the file is empty"],
    ["an empty document", "---\n", "", "the file is empty"],
    ["a text", "hello", "", "the file must be a list of packages, not a text"],
    ["no section", "governance: {}\n", "", "the file has no section package_catalog"],
    [
      "a section that is a list",
      "package_catalog: []\n",
      "/package_catalog",
      "must be an object, not a list",
    ],
    [
      "a misspelt list",
      "package_catalog: { pakages: [] }\n",
      "/package_catalog/pakages",
      "did you mean packages?",
    ],
    [
      "a value that is not a list",
      "package_catalog: { packages: {} }\n",
      "/package_catalog/packages",
      "must be a list",
    ],
  ];
  test.each(rows)("%s", (_name, text, pointer, detail) => {
    const problem = firstProblemOf(text);
    expect(problem?.pointer).toBe(pointer);
    expect(problem?.detail).toContain(detail);
  });
});

describe("hostile files yield one clear problem with its line", () => {
  const growing = (step: (previous: string) => string): string => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `a${index + 1}: &a${index + 1} ${step(`*a${index}`)}`,
    );
    return `a0: &a0 { x: 1 }\n${levels.join("\n")}\npackage_catalog: {}\n`;
  };
  const tenTimes = (alias: string): string => Array(10).fill(alias).join(", ");
  const rows: [string, string | Uint8Array, string, number | undefined][] = [
    [
      "a byte that is not UTF-8",
      new Uint8Array([...bytesOf(ONE), 0xff]),
      `not UTF-8 text at byte ${ONE.length}`,
      5,
    ],
    ["a letter cut in half", new Uint8Array([0x61, 0x0a, 0xe2, 0x82, 0x41]), "not UTF-8 text at byte 2", 2],
    ["UTF-16", new Uint8Array(Buffer.from(`\ufeff${ONE}`, "utf16le")), "not UTF-8 text at byte 0", 1],
    ["a NUL", `${ONE}\0`, `holds a NUL at byte ${ONE.length}`, 5],
    ["a key twice", `${ONE}  id: two\n`, 'the key "id" occurs here a second time', 5],
    ["a key twice in another section", "x:\n  a: 1\n  a: 2\npackage_catalog: {}\n", 'the key "a"', 3],
    ["a key twice in JSON", '[{"id": 1,\n"id": 2}]', 'the key "id"', 2],
    ["a tab as indentation", ONE.replace("  version", "\tversion"), "indented with a tab", 2],
    ["a tab deeper inside", `${ONE}  settings:\n\t\ta: 1\n`, "indented with a tab", 6],
    ["a second document", `${ONE}---\n${ONE}`, "second document", 5],
    ["thousands of documents", "---\n".repeat(1_000_000), "second document", 2],
    ["a custom tag", ONE.replace("one\n", "!secret one\n"), "unknown tag", 1],
    ["a tag of older YAML", ONE.replace("one\n", "!!timestamp 2026-01-01\n"), "unknown tag", 1],
    ["a key that is a list", "? [a]\n: b\n", "key that is not plain text", 1],
    ["a reserved key", `${ONE}  settings:\n    __proto__: { x: 1 }\n`, "reserved key", 6],
    ["a reserved key in JSON", '[\n{"__proto__": {"id": "one"}}]', "reserved key", 2],
    ["an alias without an anchor", `${ONE}  settings: *a\n`, "no complete anchor", 5],
    ["an alias inside its own anchor", `${ONE}  settings: &a { a: *a }\n`, "no complete anchor", 5],
    ["a merge of a number", `${ONE}  settings: { <<: 1 }\n`, "cannot be read as YAML", undefined],
    ["aliases that multiply", growing((alias) => `[${tenTimes(alias)}]`), "aliases are replaced", undefined],
    [
      "merges that multiply",
      growing((alias) => `{ <<: [${tenTimes(alias)}] }`),
      "aliases are replaced",
      undefined,
    ],
    ["nested lists without end", "[".repeat(1_000_000), "nested deeper", 1],
    ["nested maps without end", "{a: ".repeat(1_000_000), "nested deeper", 1],
    ["nested items without end", "- ".repeat(1_000_000), "nested deeper", 1],
    ["a quote that never ends", `- "${"a".repeat(1_000_000)}`, "cannot be read as YAML", 1],
    ["only closing brackets", "]".repeat(1_000_000), "cannot be read as YAML", 1],
    ["only commas", `[${",".repeat(200_000)}`, "cannot be read as YAML", 1],
    ["only broken escapes", `"${"\\x".repeat(200_000)}"`, "cannot be read as YAML", 1],
  ];
  test.each(rows)("%s", (_name, file, detail, line) => {
    const { problems, reason } = failureOf(file);
    expect(reason).toBe("catalog.invalid");
    expect(problems[0]?.detail).toContain(detail);
    expect(problems[0]?.line).toBe(line);
    expect(problems.length).toBeLessThan(6);
  });

  test("names problems on several lines, one for each line", () => {
    const { problems } = failureOf(`- a: b: c\n- !x d\n- e: f: g\n`);
    expect(problems.map(({ line }) => line).toSorted()).toEqual([1, 2, 3]);
  });
});

describe("limits", () => {
  const depth = (levels: number): string =>
    `package_catalog:\nx: ${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}\n`;
  const references = (count: number): string =>
    `package_catalog:\nx:\n${"- &a x\n".repeat(count / 2)}${"- *a\n".repeat(Math.ceil(count / 2))}`;
  // Three copies of an anchored text and a rest; 25 for the lists, maps, keys and one for each value.
  const expanded = (size: number): string =>
    `package_catalog:\nx: [&a ${"y".repeat(5_000_000)}, *a, *a, ${"z".repeat(size - 15_000_000 - 25)}]\n`;
  const rows: [string, number, (count: number) => string, string][] = [
    ["bytes", CATALOG_FILE_BYTES_MAX, (count) => "[]".padEnd(count, " "), "the limit is 8388608"],
    ["levels", YAML_DEPTH_MAX, depth, "nested deeper"],
    ["anchors and aliases", YAML_REFERENCES_MAX, references, "anchors and aliases"],
    [
      "characters with aliases replaced",
      YAML_EXPANSION_MAX * CATALOG_FILE_BYTES_MAX,
      expanded,
      "aliases are replaced",
    ],
  ];
  test.each(rows)("%s: below and at pass, above is refused", (_name, limit, build, detail) => {
    expect(idsIn(build(limit - 1))).toEqual([]);
    expect(idsIn(build(limit))).toEqual([]);
    expect(firstProblemOf(build(limit + 1))?.detail).toContain(detail);
  });

  test("YAML tokens: accepts below and at, refuses above with the line reached", () => {
    // A smaller limit than the real one, which takes seconds to reach. The list starts with three tokens.
    const problemsOf = (count: number): Problem[] => {
      const problems = new ProblemList();
      parseYaml(`[]${"\n".repeat(count - 3)}`, problems, { tokensMax: 100 });
      return problems.list();
    };
    expect([99, 100].flatMap(problemsOf)).toEqual([]);
    expect(problemsOf(101)).toEqual([
      { pointer: "", detail: "has more than 100 words and marks; split the file", line: 99, column: 1 },
    ]);
    expect(CATALOG_TOKENS_MAX).toBeGreaterThan(1_000_000);
  });

  test("names a problem in JSON with tabs correctly", () => {
    expect(firstProblemOf('{\n\t"a": 1\n\t"b": 2\n}')?.detail).not.toContain("tab");
  });
});

describe("places", () => {
  const file = `governance: {}
package_catalog:
  packages:
    - id: one
      version: ""
      source_ref: one.tar.gz
      sha256: ${DIGEST}
    - id: two
      version: "1"
      source_ref: &far "ftp://x"
      adapters:
        codex: { a/b: 1 }
      sha256: nothing
`;

  test("pointers start at the root of the file, lines at 1, a missing member is located at its package", () => {
    const { message, hint, kind, problems } = failureOf(file.replace("      sha256: nothing\n", ""));
    expect(kind).toBe("invalid");
    expect(message).toBe("c.yaml has 4 problems");
    expect(hint).toBeString();
    expect(problems.map(({ pointer, line }) => [pointer, line])).toEqual([
      ["/package_catalog/packages/0/version", 5],
      ["/package_catalog/packages/1/sha256", 8],
      ["/package_catalog/packages/1/source_ref", 10],
      ["/package_catalog/packages/1/adapters/codex/a~1b", 12],
    ]);
  });

  test("starts the pointers of a plain list with the package", () => {
    expect(failureOf(ONE.replace('"1"', '""')).problems).toMatchObject([{ pointer: "/0/version", line: 2 }]);
  });

  test("finds lines through aliases, where the content is", () => {
    const text = `x:\n  bad: &bad\n    vim: {}\npackage_catalog:\n  packages:\n${ONE.replaceAll(/^(?=.)/gm, "  ")}    adapters: *bad\n`;
    expect(failureOf(text).problems).toMatchObject([
      { pointer: "/package_catalog/packages/0/adapters/vim", line: 3 },
    ]);
  });

  test("the reader returns the list unchecked and finds lines by pointers into it", () => {
    const text = readCatalogText(bytesOf(file));
    expect(text.problems).toEqual([]);
    expect(text.packages).toBeArrayOfSize(2);
    const found = ["", "/0", "/1/sha256", "/1/none/at/all", "/9"].map((pointer) => ({ pointer, detail: "" }));
    expect(text.locate(found).map(({ line }) => line)).toEqual([3, 4, 13, 8, 3]);
  });

  test("an unreadable file has no lines and an empty list", () => {
    const text = readCatalogText(bytesOf("a: [\n"));
    expect(text.packages).toEqual([]);
    expect(text.locate([{ pointer: "/0", detail: "" }])).toEqual([{ pointer: "/0", detail: "" }]);
  });

  test("reports one problem in the singular, many with their total number", () => {
    expect(failureOf("").message).toBe("c.yaml has 1 problem");
    const { message, problems } = failureOf(ONE.repeat(201));
    expect(message).toBe("c.yaml has 200 problems");
    expect(problems.at(-1)?.detail).toBe("and 100 more");
  });
});
