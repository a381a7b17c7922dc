// Prints a long list one page at a time. The text is identical to that of `output.list`, but memory holds only one page, plus the
// output that a slow reader has not read yet.
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { SECOND_MS, within } from "../src/platform/clock.ts";
import { collectGarbage } from "../src/platform/memory/garbage.ts";
import type { Context } from "./context.ts";
import { printableJson } from "./output/printable.ts";
import { type Listing, Table, type TableStyle } from "./output/table.ts";

/**
 * How long one list waits for its reader in total. While it waits, the read snapshot makes the write-ahead log of a busy service
 * grow. After that, the rest is buffered in memory for the reader.
 */
const WAIT_MAX_MS = 5 * SECOND_MS;

/** Pages between two garbage collections. */
const PAGES_PER_COLLECTION = 4;

/** Indentation of rows: they are two levels deep in the document. */
const INDENT = "    ";

type Pages<Row> = () => Iterable<readonly Row[]>;

export class PagePrinting {
  readonly #stdout: Context["stdout"];
  #waitMaxMs: number;
  #pages = 0;

  constructor(
    private readonly context: Pick<Context, "stdout" | "stderr">,
    private readonly options: { style: TableStyle; waitMaxMs?: number },
  ) {
    this.#stdout = context.stdout;
    this.#waitMaxMs = options.waitMaxMs ?? WAIT_MAX_MS;
  }

  /** Prints `{"items": [...]}` with the members of `more`, indented like the output of JSON.stringify. */
  async document<Row>(pages: Pages<Row>, { json }: Listing<Row>, more: object): Promise<void> {
    const frame = printableJson(JSON.stringify({ items: [], ...more }, null, 2));
    const start = frame.indexOf("[") + 1;
    let text = frame.slice(0, start);
    let separator = "\n";
    for (const page of pages()) {
      for (const row of page) {
        text += `${separator}${INDENT}${indented(printableJson(JSON.stringify(json(row), null, 2)))}`;
        separator = ",\n";
      }
      await this.#print(text);
      text = "";
    }
    const end = separator === "\n" ? "" : "\n  ";
    await this.#print(`${text}${end}${frame.slice(start)}\n`);
  }

  async table<Row>(pages: Pages<Row>, { columns, empty }: Listing<Row>): Promise<void> {
    const table = new Table(columns, this.options.style);
    let rows = 0;
    for (const page of pages()) {
      table.measure(page);
      rows += page.length;
      this.#collect();
    }
    if (rows === 0) return void this.context.stderr.write(`${empty}\n`);
    let lines = [table.header()];
    for (const page of pages()) {
      lines.push(...table.lines(page));
      await this.#print(`${lines.join("\n")}\n`);
      lines = [];
    }
  }

  #collect(): void {
    this.#pages += 1;
    if (this.#pages % PAGES_PER_COLLECTION === 0) collectGarbage();
  }

  /** Yields to the event loop so that the text is written. */
  async #print(text: string): Promise<void> {
    this.#collect();
    if (text === "" || this.#stdout.write(text)) return await setImmediate();
    const startMs = performance.now();
    const taken = new AbortController();
    await within(this.#waitMaxMs, once(this.#stdout, "drain", { signal: taken.signal }));
    taken.abort();
    this.#waitMaxMs = Math.max(0, this.#waitMaxMs - (performance.now() - startMs));
  }
}

/** Strings contain no raw line breaks at this point (printableJson escaped them), so every line break is formatting. */
const indented = (text: string): string => text.replaceAll("\n", `\n${INDENT}`);
