// The chapters of the handbook: every chapter is listed, links lead somewhere, and the rules that its renderers need are met.
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { handbookText, illustratedText } from "../../src/handbook/chapters.ts";
import { CHAPTERS, TOPIC_SECTIONS } from "../../src/handbook/contents.ts";
import { partsOf, sectionOf } from "../../src/handbook/markdown.ts";
import { terminalText } from "../../src/handbook/terminal.ts";
import { CHAPTER_FILES, CHAPTERS_FOLDER, chapterFile } from "../support/content/chapter-files.ts";

const ROOT = join(import.meta.dir, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const PICTURE_BYTES_MAX = 100 * 1024;
const NAMES = CHAPTERS.map(({ name }) => name);

const sourceOf = (name: string): string => readFileSync(chapterFile(name), "utf8");
const proseOf = (markdown: string): string =>
  partsOf(markdown)
    .map((part) => (part.kind === "prose" ? part.text : ""))
    .join("\n");
/** The anchor that GitHub and the runtime make from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, "")
    .replaceAll(" ", "-");
const anchorsOf = (markdown: string): string[] =>
  [...proseOf(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));

const PICTURES = readdirSync(join(CHAPTERS_FOLDER, "pictures")).map((file) => `../pictures/${file}`);
/** Images that form a paragraph. The texts of the executable omit them. */
const picturesIn = (markdown: string) =>
  [...markdown.matchAll(/^!\[(.*)\]\((.*)\)\n\n/gm)].map(([, description = "", file = ""]) => ({
    description,
    file,
  }));

describe("README", () => {
  test("links to existing files", () => {
    const links = [...README.matchAll(/\]\(([^)#]+)[^)]*\)| src="([^"]+)"/g)].map(
      ([, file = "", src]) => src ?? file,
    );
    expect(links.length).toBeGreaterThan(CHAPTERS.length);
    expect(links.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test("links to every chapter and fits two screens", () => {
    expect(NAMES.filter((name) => !README.includes(`](${relative(ROOT, chapterFile(name))})`))).toEqual([]);
    expect(README.split("\n").length).toBeLessThan(150);
  });

  test("installs with the commands of the chapter on installation", () => {
    const [block] = partsOf(sourceOf("install")).filter(({ kind }) => kind === "block");
    expect(README).toContain(block?.text ?? "no block");
  });
});

/** The README shows one picture of the console; its chapter has the others. */
const isElsewhere = (file: string) => /console-(?!overview)/.test(file);

test("every picture is shown by a chapter, most by the README too, and is small", () => {
  const shown = NAMES.flatMap((name) => picturesIn(sourceOf(name))).map(({ file }) => file);
  expect(PICTURES.filter((file) => !shown.includes(file))).toEqual([]);
  expect(
    PICTURES.filter(
      (file) => !isElsewhere(file) && !README.includes(relative(ROOT, join(CHAPTERS_FOLDER, "start", file))),
    ),
  ).toEqual([]);
  expect(
    PICTURES.filter((file) => statSync(join(CHAPTERS_FOLDER, "start", file)).size > PICTURE_BYTES_MAX),
  ).toEqual([]);
});

describe("a drawing", () => {
  const drawing = readFileSync(join(CHAPTERS_FOLDER, "pictures/parts.svg"), "utf8");

  test("has a title and a description, and needs nothing else", () => {
    expect(drawing).toMatch(/<title id="title">\S/);
    expect(drawing).toMatch(/<desc id="description">\S/);
    expect(drawing).toContain('aria-labelledby="title description"');
    expect(drawing).not.toMatch(/<script|<image|href=|@import|url\((?!#)/);
  });

  test("has the colors of the pages in both schemes, whose contrast is tested elsewhere", () => {
    const styles = readFileSync(join(ROOT, "src/server/pages/style.css"), "utf8");
    const colors = [...styles.matchAll(/light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];
    const [light, dark] = [1, 2].map((scheme) => new Set(colors.map((found) => found[scheme])));
    const [drawnLight, drawnDark] = drawing
      .split("prefers-color-scheme: dark", 2)
      .map((part) => new Set<string | undefined>(part.match(/#[0-9a-f]{6}\b/g)));
    if (!light || !dark || !drawnLight || !drawnDark) throw new Error("a scheme is missing");
    expect([drawnLight.isSubsetOf(light), drawnDark.isSubsetOf(dark)]).toEqual([true, true]);
    expect(Math.min(drawnLight.size, drawnDark.size)).toBeGreaterThan(1);
  });
});

test("every chapter has a file, and every file is a chapter", () => {
  expect([...CHAPTER_FILES.keys()].toSorted()).toEqual(NAMES.toSorted());
});

test("every topic names an existing section", () => {
  for (const name of TOPIC_SECTIONS.keys()) expect(handbookText(name)).toMatch(/\S/);
  for (const name of ["nothing", "constructor"]) expect(handbookText(name)).toBeUndefined();
});

describe.each(CHAPTERS)("$name", ({ name, title }) => {
  const source = sourceOf(name);

  test("begins with its title", () => {
    expect(source).toStartWith(`# ${title}\n`);
    expect(proseOf(source).match(/^# /gm)).toHaveLength(1);
  });

  test("links to existing chapters and headings", () => {
    const links = [...proseOf(source).matchAll(/(?<!!\[[^\]]*)\]\(([^)]*)\)/g)].map(
      ([, target = ""]) => target,
    );
    const wrong = links.filter((target) => {
      if (target.startsWith("https://")) return false;
      const [, path = "", anchor] = /^([a-z./-]+\.md)(?:#([a-z0-9-]+))?$/.exec(target) ?? [];
      const chapter = basename(path, ".md");
      const isThere = CHAPTER_FILES.get(chapter) === join(dirname(chapterFile(name)), path);
      return !isThere || (anchor !== undefined && !anchorsOf(sourceOf(chapter)).includes(anchor));
    });
    expect(wrong).toEqual([]);
  });

  test("shows existing pictures outside of the executable, and none inside", () => {
    const shown = picturesIn(source);
    expect(shown.filter(({ file }) => !PICTURES.includes(file))).toEqual([]);
    expect(shown.filter(({ description }) => description.length < 20)).toEqual([]);
    expect(illustratedText(name)?.match(/!\[/g) ?? []).toHaveLength(shown.length);
    expect(handbookText(name)).not.toContain("![");
  });

  test("has code spans on one line, and blocks outside of lists", () => {
    const paragraphs = proseOf(source).split("\n");
    expect(paragraphs.filter((line) => (line.match(/`/g)?.length ?? 0) % 2 === 1)).toEqual([]);
    expect(source.match(/^ +```/gm)).toBeNull();
  });

  test("has no HTML, which the terminal would print", () => {
    expect(handbookText(name)).not.toMatch(/<!--/);
    expect(proseOf(source).replaceAll(/`[^`]*`|^<!--.*-->$/gm, "")).not.toMatch(/(?<!\\)<[a-z/!]/i);
  });

  test("is printed in lines of at most 80 characters, except blocks", () => {
    const text = terminalText(proseOf(handbookText(name) ?? ""), { columns: 80, color: false });
    expect(text.split("\n").filter((line) => line.length > 80 && line.includes(" "))).toEqual([]);
  });
});

describe("terminalText", () => {
  test.each(NAMES)("leaves no backtick alone in a cell of %s", (name) => {
    for (const columns of [72, 80, 100, 120]) {
      const lines = terminalText(handbookText(name) ?? "", { columns, color: false }).split("\n");
      expect(lines.filter((line) => /\| ` +\|/.test(line))).toEqual([]);
    }
  });

  const style = { columns: 40, color: false };

  test("prints blocks indented and unchanged, and marks code if color is off", () => {
    expect(terminalText("# A\n\nRun `b c`:\n\n```sh run\nb c   # | d\n\n  e\n```\n\nEnd.\n", style)).toBe(
      "A\n===\n\nRun `b c`:\n\n  b c   # | d\n\n    e\n\nEnd.\n",
    );
  });

  test("prints the command for the chapter that a link points to", () => {
    expect(terminalText("See [B](backups.md#restore).\n", { ...style, columns: 80 })).toBe(
      "See B (quartermaster help backups).\n",
    );
  });

  test("uses escape sequences only with color", () => {
    expect(terminalText("**b**\n", style)).toBe("b\n");
    expect(terminalText("**b**\n", { ...style, color: true })).toContain("\u001b[1m");
  });
});

describe("sectionOf", () => {
  const markdown = "# A\n\n## B\n\nb\n\n```sh\n# no heading\n## C\n```\n\n### D\n\nd\n\n## C\n\nc\n";

  test("ends at the next heading of its level and ignores comments in blocks", () => {
    expect(sectionOf(markdown, "B")).toBe("## B\n\nb\n\n```sh\n# no heading\n## C\n```\n\n### D\n\nd");
    expect(sectionOf(markdown, "D")).toBe("### D\n\nd");
    expect(sectionOf(markdown, "E")).toBeUndefined();
  });
});
