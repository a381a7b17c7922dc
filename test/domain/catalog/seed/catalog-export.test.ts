// Parsing the exported catalog gives the same catalog, with any texts and settings.
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ManagedPackage } from "../../../../src/domain/catalog/model.ts";
import { parseCatalog } from "../../../../src/domain/catalog/seed/catalog-document.ts";
import { catalogYaml } from "../../../../src/domain/catalog/seed/catalog-export.ts";
import { isUnicodeText } from "../../../../src/platform/text/object-reader.ts";
import { yamlText } from "../../../../src/platform/text/yaml-write.ts";

const managed = (members: Partial<ManagedPackage> = {}): ManagedPackage => ({
  id: "one",
  version: "1",
  source_ref: "https://example.com/one.tar.gz",
  sha256: "a".repeat(64),
  settings: {},
  adapters: {},
  ...members,
});

const readAgain = (packages: readonly ManagedPackage[]): ManagedPackage[] =>
  parseCatalog(Buffer.from(catalogYaml(packages)), "export.yaml").packages;

/** Entries are compared as text, so the order of members matters. */
const expectSame = (packages: readonly ManagedPackage[]): void =>
  expect(JSON.stringify(readAgain(packages))).toBe(JSON.stringify(packages));

test.each([
  "2026-03",
  "1.0",
  "0x10",
  "1e3",
  "null",
  "~",
  "yes",
  "true",
  "<<",
  "__proto",
  "*alias",
  "&anchor",
  "!tag",
  "# comment",
  "key: value",
  "- item",
  "'single'",
  '"double"',
  "%directive",
  "---",
  "a\tb",
  " spaces ",
  "x".repeat(200),
  "word ".repeat(50),
])("the version and the setting %j are read back as text", (text) => {
  expectSame([
    managed({ version: text.trim().replace("\t", " "), settings: { [text]: text, list: [text] } }),
  ]);
});

test("any settings that may be entered are read back unchanged", () => {
  const key = fc
    .string({ minLength: 1, maxLength: 20 })
    .filter((text) => text !== "__proto__" && isUnicodeText(text));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: "binary", maxLength: 30 }).filter(isUnicodeText),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((number) => (Object.is(number, -0) ? 0 : number)),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }), (settings) =>
      expectSame([managed({ settings })]),
    ),
  );
});

test("an empty catalog is read back empty", () => {
  expect(readAgain([])).toEqual([]);
});

test("equal parts are written out, never as aliases", () => {
  const adapters = { codex: { plugin_dir: "p", plugins: [], helpers: {} } };
  const twice = { ...adapters, claude: adapters.codex };
  expect(yamlText(managed({ adapters: twice }))).not.toMatch(/[&*]/);
});
