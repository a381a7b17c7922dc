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
      ? Bun.markdown.ansi(color ? part.text : withBackticks(part.text), { columns, colors: color }).trim()
      : part.text.replaceAll(/^(?=.)/gm, INDENT).trimEnd(),
  );
  return `${texts.filter((text) => text !== "").join("\n\n")}\n`;
}

/** Without color a code span would look like any other word. */
const withBackticks = (markdown: string): string => markdown.replaceAll(CODE_SPAN, "`` `$1` ``");
