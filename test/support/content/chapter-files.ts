// Where the sources of the handbook's chapters are.
import { basename, join } from "node:path";
import { Glob } from "bun";

export const CHAPTERS_FOLDER = join(import.meta.dir, "../../../src/handbook/chapters");

/** name of a chapter to its file */
export const CHAPTER_FILES: ReadonlyMap<string, string> = new Map(
  [...new Glob("*/*.md").scanSync(CHAPTERS_FOLDER)].map((file) => [
    basename(file, ".md"),
    join(CHAPTERS_FOLDER, file),
  ]),
);

/** @returns the path of the chapter's Markdown, with its generated parts and the tags of its blocks */
export function chapterFile(name: string): string {
  const file = CHAPTER_FILES.get(name);
  if (file === undefined) throw new Error(`no chapter ${name}`);
  return file;
}
