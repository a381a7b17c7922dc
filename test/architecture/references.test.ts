// References in comments and test titles must be valid: a named Markdown file exists, and `handbook:` is followed by
// the name of a chapter and optionally, after a comma, the name of one of its sections.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { handbookText } from "../../src/handbook/chapters.ts";
import { CHAPTERS } from "../../src/handbook/contents.ts";
import { CHAPTER_FILES } from "../support/content/chapter-files.ts";
import { commentsIn, ROOT, readSources, titlesIn } from "../support/source.ts";

const MARKDOWN_FILE = /[\w./-]+\.md\b/g;
/** not a colon in a sentence about "the handbook" */
const HANDBOOK = /(?<!the )\bhandbook: (?<chapter>[a-z-]+)(?:, (?<section>[A-Z][^.,;:)*\n]*))?/g;

/** file to the reason why the repository does not have it */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "VERIFY.md": "written into a release",
};

/**
 * @returns whether the name is a file of the repository, relative to the root or to the referring file, or a chapter
 */
const isPresent = (name: string, path: string): boolean =>
  [ROOT, join(ROOT, dirname(path))].some((folder) => existsSync(join(folder, name))) ||
  CHAPTER_FILES.has(basename(name, ".md"));

const absentFilesIn = (text: string, path: string): string[] =>
  (text.match(MARKDOWN_FILE) ?? []).filter(
    (name) => ELSEWHERE[basename(name)] === undefined && !isPresent(name, path),
  );

const hasSection = (chapter: string, section: string): boolean =>
  (handbookText(chapter) ?? "").split("\n").some((line) => line.replace(/^##+ /, "") === section);

const deadChaptersIn = (text: string): string[] =>
  [...text.matchAll(HANDBOOK)].flatMap(([found, chapter = "", section]) => {
    const isChapter = CHAPTERS.some(({ name }) => name === chapter);
    return isChapter && (section === undefined || hasSection(chapter, section.trim())) ? [] : found;
  });

test("comments and titles name only existing files and chapters", async () => {
  const sources = await readSources(["src", "cli", "test", "migrations"]);
  const dead = sources.flatMap(({ path, text }) =>
    [...commentsIn(text), ...titlesIn(text)]
      .flatMap((part) => [...absentFilesIn(part, path), ...deadChaptersIn(part)])
      .map((name) => `${path} names ${name}`),
  );
  expect(dead).toEqual([]);
});

test("a missing file is detected", () => {
  const text = "Source: design.md section 4. See README.md, install.md and VERIFY.md.";
  expect(absentFilesIn(text, "src/main.ts")).toEqual(["design.md"]);
});

test("a missing chapter or section is detected", () => {
  const text =
    "handbook: gateway, Answers; handbook: install; handbook: nothing; (handbook: gateway, Missing).";
  expect(deadChaptersIn(text)).toEqual(["handbook: nothing", "handbook: gateway, Missing"]);
});
