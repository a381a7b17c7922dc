// An export that no other file uses is either dead or should not be exported.
import { expect, test } from "bun:test";
import { readSources, type Source, sourceOf } from "../support/source.ts";

const EXPORT = /^export (?:abstract )?(?:async )?(?:const|function\*?|class) (?<name>\w+)/gm;
const EXPORTED_TYPE = /^export (?:interface|type) (?<name>\w+)/gm;
const EXPORTED_FROM = /^export (?:type )?\{(?<names>[^}]*)\}/gm;

/** @returns the names in a list in braces: of exports those visible outside, of imports those of the other file */
const namesIn = (list: string, side: "outside" | "inside"): string[] =>
  list.split(",").flatMap((member) => {
    const [inside, outside = inside] = member
      .trim()
      .replace(/^type /, "")
      .split(" as ");
    return (side === "outside" ? outside : inside) || [];
  });

const named = (code: string, pattern: RegExp): string[] =>
  [...code.matchAll(pattern)].flatMap(({ groups }) => groups?.name ?? []);

const occursTwice = (code: string, name: string): boolean =>
  code.split(new RegExp(`\\b${name}\\b`)).length > 2;

/** A type that the file itself uses is part of its interface, so only other types count. */
const exportsOf = ({ code }: Source): string[] => [
  ...named(code, EXPORT),
  ...named(code, EXPORTED_TYPE).filter((name) => !occursTwice(code, name)),
  ...[...code.matchAll(EXPORTED_FROM)].flatMap(({ groups }) => namesIn(groups?.names ?? "", "outside")),
];

/** @returns every export that no file imports by name, as `name of path`; importing a whole file uses all its exports */
function unusedExports(sources: readonly Source[], users: readonly Source[]): string[] {
  const used = new Map<string, Set<string>>();
  for (const { target, names } of users.flatMap(({ imports }) => imports)) {
    const list = /\{([^}]*)\}/.exec(names)?.[1];
    const found = used.getOrInsertComputed(target, () => new Set());
    for (const name of list === undefined ? ["*"] : namesIn(list, "inside")) found.add(name);
  }
  return sources.flatMap((source) => {
    const names = used.get(source.path) ?? new Set();
    if (names.has("*")) return [];
    return exportsOf(source)
      .filter((name) => !names.has(name))
      .map((name) => `${name} of ${source.path}`);
  });
}

test("every export is used by another file", async () => {
  const sources = await readSources(["src", "cli"]);
  const users = [...sources, ...(await readSources(["test", "migrations"]))];
  expect(unusedExports(sources, users)).toEqual([]);
});

test("unused exports are found in every form", () => {
  const text = [
    "export const one = 1;",
    "export async function two() {}",
    "export type Three = 3;",
    'export { four, five as six } from "./other.ts";',
    "export interface Seven {}",
    "const eight = 8;",
  ].join("\n");
  const user = sourceOf("src/b.ts", 'import { one, type Three } from "./a.ts";');
  expect(unusedExports([sourceOf("src/a.ts", text)], [user])).toEqual([
    "two of src/a.ts",
    "Seven of src/a.ts",
    "four of src/a.ts",
    "six of src/a.ts",
  ]);
});

test.each([
  ["renamed", 'import { one as first } from "./a.ts";'],
  ["exported again", 'export { one } from "./a.ts";'],
  ["imported with everything else", 'import * as a from "./a.ts";'],
  ["loaded at run time", 'const { one } = await import("./a.ts");'],
])("an export that is %s is used", (_, text) => {
  const source = sourceOf("src/a.ts", "export const one = 1;");
  expect(unusedExports([source], [sourceOf("src/b.ts", text)])).toEqual([]);
});
