// No file imports itself through other files, types included: a file in a cycle cannot be read or changed on its own.
import { expect, test } from "bun:test";
import { readSources, type Source, sourceOf } from "../support/source.ts";

/** @returns every cycle as the list of its files, found once, from its first file */
function cyclesAmong(sources: readonly Source[]): string[][] {
  const imports = new Map(sources.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const finished = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, route: readonly string[]): void => {
    const start = route.indexOf(path);
    if (start >= 0) cycles.push([...route.slice(start), path]);
    if (start >= 0 || finished.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...route, path]);
    finished.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return cycles;
}

test("files never import themselves indirectly", async () => {
  expect(cyclesAmong(await readSources(["src", "cli", "migrations"]))).toEqual([]);
});

test.each([
  ["two files", { a: ["b"], b: ["a"] }, [["src/a.ts", "src/b.ts", "src/a.ts"]]],
  [
    "three files, entered from outside",
    { a: ["b"], b: ["c"], c: ["d"], d: ["b"] },
    [["src/b.ts", "src/c.ts", "src/d.ts", "src/b.ts"]],
  ],
  ["a file and itself", { a: ["a"] }, [["src/a.ts", "src/a.ts"]]],
  ["no cycle where two ways lead to one file", { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, []],
])("finds %s", (_, imports, cycles) => {
  const sources = Object.entries<string[]>(imports).map(([name, targets]) =>
    sourceOf(`src/${name}.ts`, targets.map((target) => `import "./${target}.ts";\n`).join("")),
  );
  expect(cyclesAmong(sources)).toEqual(cycles);
});

test("an import of types counts", () => {
  const one = sourceOf("src/one.ts", 'import type { Two } from "./two.ts";');
  const two = sourceOf("src/two.ts", 'import { one } from "./one.ts";');
  expect(cyclesAmong([one, two])).toHaveLength(1);
});
