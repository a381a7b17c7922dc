// The structure of the repository: the allowed directions of imports, and the limit on files at one level of a folder.
import { describe, expect, test } from "bun:test";
import { posix } from "node:path";
import { Glob } from "bun";
import { ROOT, readSources, type Source, sourceOf } from "../support/source.ts";

/** Each part may use itself and the parts below it in this list. */
const LAYERS: readonly (readonly [name: string, files: RegExp])[] = [
  ["main", /^src\/main\.ts$/],
  ["cli", /^cli\//],
  ["app", /^src\/app\//],
  ["server", /^src\/server\//],
  ["handbook", /^src\/handbook\//],
  ["domain", /^src\/domain\//],
  ["platform", /^src\/platform\//],
  ["migrations", /^migrations\//],
];

const layerOf = (path: string): number => LAYERS.findIndex(([, files]) => files.test(path));
const nameOf = (layer: number): string => LAYERS[layer]?.[0] ?? "no layer";

/** @returns imports that lead upward, and files that are in no layer */
const violationsIn = (sources: readonly Source[]): string[] =>
  sources.flatMap(({ path, imports }) => {
    const own = layerOf(path);
    if (own < 0) return [`${path} is in no layer`];
    return imports
      .filter(({ target }) => /^(?:src|cli|migrations)\//.test(target) && layerOf(target) < own)
      .map(({ target }) => `${path}: ${nameOf(own)} uses ${nameOf(layerOf(target))} (${target})`);
  });

const FILES_PER_FOLDER_MAX = 15;
/** reason why a folder may have more files, by folder */
const LARGER_FOLDERS: Readonly<Record<string, string>> = {
  "test/cli/golden": "one file for each command",
  "test/requirements": "one file for each capability",
};

function largeFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > FILES_PER_FOLDER_MAX).map(([folder]) => folder);
}

const FOLDERS = "{src,cli,test}/**/*";
const filesInTree = [...new Glob(FOLDERS).scanSync(ROOT)];

/** @returns folders with tests that have no source folder of the same name */
function unmatchedTestFolders(paths: readonly string[]): string[] {
  const folders = new Set(paths.flatMap(foldersOf));
  const tested = new Set(paths.filter((path) => SOURCE_TEST.test(path)).map((path) => posix.dirname(path)));
  return [...tested].filter(
    (folder) => !folders.has(folder.replace(/^test\/(?!cli\b)/, "src/").replace(/^test\//, "")),
  );
}

const SOURCE_TEST = /^test\/(?:app|cli|domain|platform|server)\/.*\.test\.tsx?$/;

/** @returns the folder of a file and all folders above it */
function foldersOf(path: string): string[] {
  const parts = posix.dirname(path).split("/");
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

describe("imports between parts", () => {
  test("lead downward in every file", async () => {
    expect(violationsIn(await readSources(["src", "cli", "migrations"]))).toEqual([]);
  });

  test.each([
    ["the platform uses the domain", "src/platform/a.ts", "../domain/shared/actor.ts"],
    ["the domain uses the server", "src/domain/clients/a.ts", "../../server/server.ts"],
    ["the server uses the application", "src/server/a.ts", "../app/service/service.ts"],
    ["the application uses the command line", "src/app/a.ts", "../../cli/program.ts"],
    ["the command line uses the entry", "cli/a.ts", "../src/main.ts"],
  ])("refuses an import where %s", (_, path, target) => {
    expect(violationsIn([sourceOf(path, `import type { A } from "${target}";`)])).toHaveLength(1);
  });

  test("allows imports within one part and from every part below", () => {
    const text = ["../platform/clock.ts", "../domain/domain.ts", "./http/responses.ts"]
      .map((target) => `import "${target}";`)
      .join("\n");
    expect(violationsIn([sourceOf("src/server/a.ts", text)])).toEqual([]);
  });

  test("a file outside every part is refused", () => {
    expect(violationsIn([sourceOf("src/loose.ts", "// text")])).toEqual(["src/loose.ts is in no layer"]);
  });
});

describe("folders", () => {
  const named = (count: number) => Array.from({ length: count }, (_, at) => `src/folder/${at}.ts`);

  test(`have at most ${FILES_PER_FOLDER_MAX} files at one level`, () => {
    expect(largeFolders(filesInTree).filter((folder) => LARGER_FOLDERS[folder] === undefined)).toEqual([]);
  });

  test("test folders have the names of the source folders that they test", () => {
    expect(unmatchedTestFolders(filesInTree)).toEqual([]);
  });

  test("finds test folders without a folder of the source", () => {
    const source = ["src/server/pages/page.ts", "cli/commands/run.ts"];
    const tests = [
      "test/server/pages/page.test.ts",
      "test/cli/commands/run.test.ts",
      "test/support/world.ts",
    ];
    expect(unmatchedTestFolders([...source, ...tests, "test/server/views/a.test.ts"])).toEqual([
      "test/server/views",
    ]);
  });

  test("every folder with an exception has more files than the limit", () => {
    expect(largeFolders(filesInTree)).toEqual(expect.arrayContaining(Object.keys(LARGER_FOLDERS)));
  });

  test.each([
    [FILES_PER_FOLDER_MAX - 1, []],
    [FILES_PER_FOLDER_MAX, []],
    [FILES_PER_FOLDER_MAX + 1, ["src/folder"]],
  ])("checks folders with %i files against the limit", (count, found) => {
    expect(largeFolders(named(count))).toEqual(found);
  });
});
