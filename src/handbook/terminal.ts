// Chapters for a terminal or a pipe. The runtime renders the Markdown; blocks are printed indented and without decoration, so
// that a reader can copy them.
import { partsOf, withLinks } from "./markdown.ts";

export interface TerminalStyle {
  columns: number;
  /** whether to use escape sequences; plain ASCII otherwise */
  color: boolean;
}

const INDENT = "  ";
const CODE_SPAN = /`([^`\n]+)`/g;

/** @returns the text with a line break at its end */
export function terminalText(markdown: string, { columns, color }: TerminalStyle): string {
  const linked = withLinks(markdown, (name) => `quartermaster help ${name}`);
  const texts = partsOf(linked).map((part) =>
    part.kind === "prose"
      ? (color ? Bun.markdown.ansi(part.text, { columns, colors: true }) : plain(part.text, columns)).trim()
      : part.text.replaceAll(/^(?=.)/gm, INDENT).trimEnd(),
  );
  return `${texts.filter((text) => text !== "").join("\n\n")}\n`;
}

const plain = (markdown: string, columns: number): string =>
  withoutStrayBackticks(Bun.markdown.ansi(withBackticks(markdown), { columns, colors: false }));

/** A cell with only the backtick that ends the code span in the cell above it. */
const STRAY_BACKTICK = /\| ` +\|/g;

/** Moves them up to the code span, into the space between the text and the border. */
function withoutStrayBackticks(text: string): string {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const above = lines.at(-1) ?? "";
    let rest = line;
    let repaired = above;
    for (const { 0: cell, index } of line.matchAll(STRAY_BACKTICK)) {
      const padding = index + cell.length - 2; // in front of the border
      if (above[padding] !== " " || above[padding - 1] === " ") continue;
      repaired = `${repaired.slice(0, padding)}\`${repaired.slice(padding + 1)}`;
      rest = `${rest.slice(0, index)}${cell.replace("`", " ")}${rest.slice(index + cell.length)}`;
    }
    if (repaired !== above) lines[lines.length - 1] = repaired;
    if (repaired === above || /[^| ]/.test(rest)) lines.push(rest);
  }
  return lines.join("\n");
}

/** Without color a code span would look like any other word. */
const withBackticks = (markdown: string): string => markdown.replaceAll(CODE_SPAN, "`` `$1` ``");
