// The service starts without the console: no file that loads with its program belongs to it, except names of addresses.
import { expect, test } from "bun:test";
import { readSources, type Source, sourceOf } from "../support/source.ts";

const PROGRAM = "src/app/service/service.ts";
const OF_CONSOLE = /^src\/server\/(?:routes\/)?console\//;
/** constants that the sign-in and the account pages link to */
const NAMES = ["src/server/console/frame/navigation.ts", "src/server/console/own/words.ts"];

/** @returns every file that loads with the first one */
function loadedWith(first: string, sources: readonly Source[]): string[] {
  const imports = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ lazy, typeOnly }) => !lazy && !typeOnly).map(({ target }) => target),
    ]),
  );
  const loaded = new Set([first]);
  for (const path of loaded) for (const target of imports.get(path) ?? []) loaded.add(target);
  return [...loaded];
}

test("the console is not loaded with the service", async () => {
  const loaded = loadedWith(PROGRAM, await readSources(["src"]));
  expect(loaded).toContain("src/server/lazy-console.ts");
  expect(loaded.filter((path) => OF_CONSOLE.test(path)).toSorted()).toEqual(NAMES);
});

test("a file counts unless it is imported lazily or for its types", () => {
  const sources = [
    sourceOf("src/one.ts", 'import { two } from "./two.ts";\nimport type { Four } from "./four.ts";'),
    sourceOf("src/two.ts", 'export * from "./three.ts";\nconst late = () => import("./five.ts");'),
  ];
  expect(loadedWith("src/one.ts", sources)).toEqual(["src/one.ts", "src/two.ts", "src/three.ts"]);
});
