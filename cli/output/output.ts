// The one way results are printed: stdout for results, stderr for everything said beside them, `--json` for machines.
// Errors are printed by program.ts through exit.ts; tables are made in table.ts.
import { once } from "node:events";
import { styleText } from "node:util";
import type { Secret } from "../../src/platform/secret.ts";
import type { CliCommand } from "../command.ts";
import type { Context, OutputStream } from "../context.ts";
import { PagePrinting } from "../page-printing.ts";
import { withPriority } from "./journal.ts";
import { printable, printableJson } from "./printable.ts";
import { type Listing, tableText } from "./table.ts";

export type { Listing } from "./table.ts";

export interface Output {
  /** the command was given `--json` */
  readonly isJson: boolean;
  /** Prints one JSON document, or the text that says the same (its line break is added; make foreign parts `printable`). */
  result(json: object, text: string): void;
  /** Prints a table, or one document `{"items": [...]}` with what `more` adds. */
  list<Row>(rows: readonly Row[], listing: Listing<Row>, more?: object): void;
  /**
   * Prints what `list` prints, a page at a time. The pages of a table are read twice, to measure and to print them, so they should
   * be of one moment.
   */
  pages<Row>(pages: () => Iterable<readonly Row[]>, listing: Listing<Row>, more?: object): Promise<void>;
  /** Prints one line per row as it comes, each an object under `--json`; waits while the reader is slow. */
  stream<Row>(
    rows: AsyncIterable<Row> | Iterable<Row>,
    line: { json: (row: Row) => object; text: (row: Row) => string },
  ): Promise<void>;
  /** Prints a new secret alone on stdout, with the warning on stderr; under `--json` as member `name` beside `more`. */
  secret(secret: Secret, say: { name: string; warning: string; more?: object }): void;
  /** Says something on stderr that is of no use to a machine: silent under `--json`. */
  note(text: string): void;
  warning(text: string): void;
}

/** @returns the output of a command, as its options `--json`, `--wide` and `--no-color` want it */
export function outputFor(context: Context, command: CliCommand): Output {
  const { json, wide, color }: Record<string, unknown> = command.optsWithGlobals();
  const { stdout, stderr } = context;
  const isJson = json === true;
  const print = (text: string) => void stdout.write(`${text}\n`);
  const style = {
    wide: wide === true,
    columns: stdout.isTTY ? stdout.columns || undefined : undefined, // 0: a terminal that does not know its width
    nowMs: context.clock.nowMs(),
  };
  return {
    isJson,
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

/** @returns whether colour may be used: not in a pipe, not with `--no-color`, NO_COLOR or TERM=dumb */
export const hasColor = (stream: OutputStream, env: Context["env"], color: unknown): boolean =>
  stream.isTTY === true && color !== false && !env.NO_COLOR && env.TERM !== "dumb";

const jsonText = (document: object): string => printableJson(JSON.stringify(document, null, 2));

function warn(context: Context, say: { text: string; isJson: boolean; color: unknown }): void {
  const { stderr, env } = context;
  const label = "warning:";
  const shown = hasColor(stderr, env, say.color)
    ? styleText("yellow", label, { validateStream: false })
    : label;
  const text = say.isJson
    ? printableJson(JSON.stringify({ warning: say.text }))
    : `${shown} ${printable(say.text)}`;
  stderr.write(withPriority(context, `${text}\n`, { level: "warning" }));
}
