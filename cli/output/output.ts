// Prints the results of all commands: results to stdout, notes and warnings to stderr, JSON under `--json`.
// program.ts prints errors through exit.ts; table.ts formats tables.
import { once } from "node:events";
import type { Secret } from "../../src/platform/secret.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { PagePrinting } from "../page-printing.ts";
import { colored, hasColor } from "./color.ts";
import { withPriority } from "./journal.ts";
import { printable, printableJson } from "./printable.ts";
import { type Listing, tableText } from "./table.ts";

export type { Listing } from "./table.ts";

export interface Output {
  /** the command was given `--json` */
  readonly isJson: boolean;
  /** whether text for stdout may have color */
  readonly hasColor: boolean;
  /** Prints a JSON document, or the equivalent text. Adds the line break. The caller makes untrusted parts of the text `printable`. */
  result(json: object, text: string): void;
  /** Prints a table, or a JSON document `{"items": [...]}` with the members of `more`. */
  list<Row>(rows: readonly Row[], listing: Listing<Row>, more?: object): void;
  /**
   * Prints the same as `list`, one page at a time. A table reads its pages twice, first to measure the columns, so both reads
   * should use the same snapshot.
   */
  pages<Row>(pages: () => Iterable<readonly Row[]>, listing: Listing<Row>, more?: object): Promise<void>;
  /** Prints each row as it arrives, one line per row; under `--json` each line is an object. Waits for a slow reader. */
  stream<Row>(
    rows: AsyncIterable<Row> | Iterable<Row>,
    line: { json: (row: Row) => object; text: (row: Row) => string },
  ): Promise<void>;
  /** Prints only the secret to stdout, and the warning to stderr. Under `--json` the secret is the member `name`, next to `more`. */
  secret(secret: Secret, options: { name: string; warning: string; more?: object }): void;
  /** Prints a note for people to stderr; nothing under `--json`. */
  note(text: string): void;
  warning(text: string): void;
}

/** @returns the output of a command, configured by its options `--json`, `--wide` and `--no-color` */
export function outputFor(context: Context, command: CliCommand): Output {
  const { json, wide, color }: Record<string, unknown> = command.optsWithGlobals();
  const { stdout, stderr } = context;
  const isJson = json === true;
  const print = (text: string) => void stdout.write(`${text}\n`);
  const style = {
    wide: wide === true,
    columns: stdout.isTTY ? stdout.columns || undefined : undefined, // 0: the terminal does not report its width
    nowMs: context.clock.nowMs(),
    hasColor: hasColor(stdout, context.env, color),
  };
  return {
    isJson,
    hasColor: style.hasColor,
    result: (document, text) => print(isJson ? jsonText(document) : text),
    list: (rows, { columns, json: toJson, empty }, more = {}) => {
      if (isJson) print(jsonText({ items: rows.map(toJson), ...more }));
      else if (rows.length === 0) stderr.write(`${empty}\n`);
      else print(tableText(rows, columns, style));
    },
    pages: async (pages, listing, more = {}) => {
      const printing = new PagePrinting(context, { style });
      if (isJson) await printing.document(pages, listing, more);
      else await printing.table(pages, listing);
    },
    stream: async (rows, line) => {
      for await (const row of rows) {
        const text = isJson ? printableJson(JSON.stringify(line.json(row))) : printable(line.text(row));
        if (!stdout.write(`${text}\n`)) await once(stdout, "drain");
      }
    },
    secret: (secret, { name, warning, more = {} }) => {
      warn(context, { text: warning, isJson, color });
      print(isJson ? jsonText({ [name]: secret.reveal(), ...more }) : secret.reveal());
    },
    note: (text) => void (isJson || stderr.write(`${text}\n`)),
    warning: (text) => warn(context, { text, isJson, color }),
  };
}

const jsonText = (document: object): string => printableJson(JSON.stringify(document, null, 2));

function warn(context: Context, options: { text: string; isJson: boolean; color: unknown }): void {
  const { stderr, env } = context;
  const label = "warning:";
  const shown = hasColor(stderr, env, options.color) ? colored(label, "yellow") : label;
  const text = options.isJson
    ? printableJson(JSON.stringify({ warning: options.text }))
    : `${shown} ${printable(options.text)}`;
  stderr.write(withPriority(context, `${text}\n`, { level: "warning" }));
}
