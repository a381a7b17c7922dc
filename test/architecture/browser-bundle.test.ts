// Commands that load the console's browser files. From source, loading runs a bundler; in the executable, it uses
// memory.
import { expect, test } from "bun:test";
import { readSources } from "../support/source.ts";

const BUNDLE = "src/server/console/assets/assets.ts";
const COMMANDS = "cli/commands/";

test("CON-7 only commands that start the server load the browser's files, in any step", async () => {
  const sources = await readSources(["src", "cli"]);
  const imports = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ typeOnly }) => !typeOnly).map(({ target }) => target),
    ]),
  );
  const reachable = (path: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const target of imports.get(path) ?? []) reachable(target, seen);
    return seen;
  };
  expect(imports.has(BUNDLE)).toBe(true);
  const loading = [...imports.keys()].filter(
    (path) => path.startsWith(COMMANDS) && reachable(path).has(BUNDLE),
  );
  expect(loading).toEqual([`${COMMANDS}demo/demo.ts`, `${COMMANDS}serve/serve.ts`]);
});
