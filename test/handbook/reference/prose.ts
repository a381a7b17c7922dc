// Sections of the handbook that are also in the manual page: made from one text that both share.
import { PROSE, type Prose } from "../../../cli/commands/help/topics.ts";

/** @returns Markdown: paragraphs, and a table for each list of definitions */
export const proseMarkdown = (prose: Prose): string =>
  prose
    .map((part) =>
      typeof part === "string"
        ? part
        : table(
            ["Name", "Meaning"],
            part.map(([term, meaning]) => [code(term), plain(meaning)]),
          ),
    )
    .join("\n\n");

/** @returns a Markdown table */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** @returns the text as code; a vertical bar would end the cell of a table */
export const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;

/** Angle brackets would be read as HTML. */
const plain = (text: string): string => text.replaceAll("<", "\\<").replaceAll("|", "\\|");

export const proseGenerators: Readonly<Record<string, () => string>> = Object.fromEntries(
  Object.entries(PROSE).map(([name, prose]) => [name, () => proseMarkdown(prose)]),
);
