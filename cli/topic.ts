// Help topics with command blocks. Each block has a tag that says how test/binary/documentation.test.ts holds it true.

/** `run`: the test executes it. `check`: the test validates it. `manual`: neither is possible, for the reason given. */
export type BlockTag = "run" | "check" | `manual: ${string}`;

/** Lines that a reader copies into a shell or a file. */
export interface Block {
  tag: BlockTag;
  language: "sh" | "yaml";
  lines: readonly string[];
}

export interface Topic {
  /** without a line break at its end */
  text: string;
  blocks: readonly Block[];
}

/** @returns command lines for a shell */
export const commands = (tag: BlockTag, ...lines: string[]): Block => ({ tag, language: "sh", lines });

/** @returns lines of a configuration file; those of the service are tagged `check` */
export const yaml = (tag: BlockTag, ...lines: string[]): Block => ({ tag, language: "yaml", lines });

/** Template tag: renders each block indented by two spaces, and keeps the blocks for the test. */
export function topic(
  strings: TemplateStringsArray,
  ...values: (string | number | undefined | Block)[]
): Topic {
  const texts = values.map((value) => (isBlock(value) ? indented(value) : String(value)));
  return { text: String.raw({ raw: strings }, ...texts), blocks: values.filter(isBlock) };
}

const isBlock = (value: string | number | undefined | Block): value is Block => typeof value === "object";

const indented = ({ lines }: Block): string => lines.map((line) => `  ${line}`).join("\n");
