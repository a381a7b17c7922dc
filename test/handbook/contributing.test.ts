// The chapter on contributing names every folder and every library, and none that does not exist.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "../..");
const chapter = readFileSync(join(ROOT, "src/handbook/chapters/reference/contributing.md"), "utf8");

/** @returns the names between backticks in the first column of the table with this heading */
function namesIn(heading: string): string[] {
  const [, rows = ""] = chapter.split(`\n| ${heading} |`);
  const [table = ""] = rows.split("\n\n");
  const firstCells = table
    .split("\n")
    .slice(2)
    .map((row) => row.split("|")[1] ?? "");
  return firstCells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
}

const foldersIn = (path: string): string[] =>
  readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

describe("the map", () => {
  test.each([
    ["Area in `src/domain/` | What it does", "src/domain"],
    ["Folder of `src/app/` | What it does", "src/app"],
    ["Folder of `src/server/` | What it does", "src/server"],
    ["Folder of `src/platform/` | What it does", "src/platform"],
  ])("%s: names every folder", (heading, path) => {
    expect(namesIn(heading)).toEqual(foldersIn(path).toSorted());
  });
});

describe("the libraries", () => {
  test.each([
    ["In the product | Why", packageJson.dependencies],
    ["In build and tests | Why", packageJson.devDependencies],
  ])("%s: names exactly those of package.json", (heading, dependencies) => {
    const named = namesIn(heading).map((name) => new RegExp(`^${RegExp.escape(name).replace("\\*", ".+")}$`));
    const installed = Object.keys(dependencies);
    expect(installed.filter((name) => !named.some((pattern) => pattern.test(name)))).toEqual([]);
    expect(named.filter((pattern) => !installed.some((name) => pattern.test(name)))).toEqual([]);
  });
});

test("the table of commands names every test and drill of package.json outside the suite", () => {
  const scripts = Object.keys(packageJson.scripts).filter((name) => /^(?:test:|torture|mutate)/.test(name));
  expect(namesIn("Command | What it does | Needs").filter((name) => !name.includes(" "))).toEqual(
    expect.arrayContaining(scripts),
  );
});
