// Helpers for the Markdown of the handbook: fenced blocks with their tags, sections, and links between chapters. The runtime
// parses the Markdown itself.

/** A part of a text: prose, or the content of one fenced block. */
export type Part =
  | { readonly kind: "prose"; readonly text: string }
  | { readonly kind: "block"; readonly language: string; readonly tag: string; readonly text: string };

const FENCE = /^```(\S*) ?(.*)\n((?:(?!```).*\n)*)```$/gm;
const MARKER = /^<!-- .* -->\n\n?/gm;
const PICTURE = /^!\[[^\]]*\]\([^)]*\)\n\n?/gm;
const PARENT_FOLDER = /\]\(\.\.\/(?:[a-z]+\/(?=[a-z-]+\.md))?/g;
const CHAPTER_LINK = /\]\(([a-z-]+)\.md(#[a-z0-9-]+)?\)/g;

/** @returns the text without the comments that mark generated parts */
export const withoutMarkers = (markdown: string): string => markdown.replaceAll(MARKER, "");

/** @returns the text without its pictures, each of which is a paragraph */
export const withoutPictures = (markdown: string): string => markdown.replaceAll(PICTURE, "");

/** @returns prose and blocks in their order; joined, they give the whole text */
export function partsOf(markdown: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of markdown.matchAll(FENCE)) {
    const [whole, language = "", tag = "", text = ""] = match;
    parts.push(
      { kind: "prose", text: markdown.slice(end, match.index) },
      { kind: "block", language, tag, text },
    );
    end = match.index + whole.length;
  }
  return [...parts, { kind: "prose", text: markdown.slice(end) }];
}

/** @returns the section from its heading up to the next heading of the same or a higher level; undefined if it is missing */
export function sectionOf(markdown: string, heading: string): string | undefined {
  const lines = markdown.split("\n");
  const start = lines.findIndex((line) => /^##+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (start === -1) return undefined;
  const level = lines[start]?.indexOf(" ") ?? 0;
  let isBlock = false;
  const end = lines.findIndex((line, at) => {
    if (line.startsWith("```")) isBlock = !isBlock;
    return at > start && !isBlock && /^#+ /.test(line) && line.indexOf(" ") <= level;
  });
  return lines
    .slice(start, end === -1 ? undefined : end)
    .join("\n")
    .trimEnd();
}

/** @returns the Markdown with links for a single folder of chapters, as on pages and in releases */
export const withoutFolders = (markdown: string): string => markdown.replaceAll(PARENT_FOLDER, "](");

/** @returns the Markdown with each link to another chapter replaced by the result of `target` */
export const withLinks = (markdown: string, target: (name: string, anchor: string) => string): string =>
  markdown.replaceAll(CHAPTER_LINK, (_, name: string, anchor = "") => `](<${target(name, anchor)}>)`);

/** @returns the Markdown with only the language after each fence */
export const withoutTags = (markdown: string): string =>
  markdown.replaceAll(FENCE, (_, language: string, __, text: string) => `\`\`\`${language}\n${text}\`\`\``);
