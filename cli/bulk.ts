// Runs a verb on many rows, named or selected by a filter. Asks once for confirmation, changes the rows in slices, and
// prints the result of each row.
import { BULK_ROWS_MAX, type BulkRow, type BulkSlice } from "../src/domain/shared/bulk.ts";
import { countText } from "../src/platform/count-text.ts";
import { DomainError } from "../src/platform/errors.ts";
import type { Call } from "./data-directory/in-domain.ts";
import { SomeFailed } from "./exit.ts";
import { isConfirmed } from "./input/prompt.ts";
import { printable } from "./output/printable.ts";

/** Number of rows that a plan lists by name; the others are only counted. */
export const NAMED_MAX = 10;
/** `unchanged` is the longest word before a row. */
const WORD_WIDTH = "unchanged".length + 2;

/**
 * @returns the text of `--q`; undefined without it
 * @throws DomainError `usage.empty_search`: an empty text, such as an unset variable of a shell, would select every row
 */
export function searchOf({ text }: Pick<Call, "text">): string | undefined {
  const q = text("q");
  if (q === undefined || q.trim() !== "") return q;
  throw new DomainError("invalid", "usage.empty_search", "--q is empty and would select everything", {
    hint: "give the text to find, or leave --q out",
  });
}

/**
 * @param names of options, as in commander
 * @returns those that were given, as the audit log records them: with the names of the API where it has them
 */
export const filterWords = ({ text, has }: Pick<Call, "text" | "has">, names: readonly string[]): string =>
  new URLSearchParams(
    names.flatMap((name) => {
      const value = has(name) ? "true" : text(name);
      return value === undefined ? [] : [[name.replaceAll(/[A-Z]/g, "_$&").toLowerCase(), value]];
    }),
  ).toString();

/** Texts of the errors about a missing or ambiguous selection. */
interface Unselected {
  reason: string;
  /** error text if nothing selects rows */
  nothing: string;
  /** noun and verb whose help explains the selection */
  command: string;
}

/**
 * @param filters of `filterWords`
 * @throws DomainError unless the command line has exactly one of names, filters and `--all`
 */
export function requireOneSelection(
  { has }: Pick<Call, "has">,
  { references, filters }: { references: readonly string[]; filters: string },
  { reason, nothing, command }: Unselected,
): void {
  const ways = [references.length > 0, filters !== "", has("all")].filter(Boolean).length;
  if (ways === 1) return;
  const several = "names, filters and --all were given together: give only one of them";
  throw new DomainError("invalid", reason, ways === 0 ? nothing : several, {
    hint: `run: quartermaster ${command} --help`,
  });
}

/** Named rows, or a filter with its text for the audit log. */
export type BulkSelection<Filter> = { ids: readonly string[] } | { filter: Filter; text: string };

export interface BulkVerb<Filter> {
  chosen: BulkSelection<Filter>;
  /** nouns for one row and for several */
  nouns: readonly [string, string];
  /** starts with a verb in the infinitive: `suspend 3 users` */
  action(rows: string): string;
  /** what changes and what stays, one line each */
  details: readonly string[];
  /** `suspended 3 users` */
  done(rows: string): string;
  count(chosen: BulkSelection<Filter>): Promise<number>;
  slice(slice: {
    selection: BulkSelection<Filter>;
    whole?: number;
    cursor?: string | undefined;
    isDryRun?: boolean;
  }): Promise<BulkSlice>;
}

/**
 * Asks for confirmation, and runs the verb.
 * @throws SomeFailed after the report, if a row was refused
 */
export async function runBulk<Filter>(call: Call, verb: BulkVerb<Filter>): Promise<void> {
  const { nouns, action, details, done, count, slice } = verb;
  const parts = partsOf(verb.chosen);
  const counts = await Promise.all(parts.map(count));
  const whole = counts.reduce((sum, matching) => sum + matching, 0);
  const rowsText = (rows: number): string => countText(rows, ...nouns);
  const [first] = parts;
  if (whole === 0 || !first)
    return call.output.result(
      { changed: false, ...countsOf([]), items: [] },
      `unchanged: no ${nouns[0]} matches`,
    );
  const { rows: preview } = await slice({ selection: first, isDryRun: true });
  const plan = { action: action(rowsText(whole)), details: [...details, ...exceptionsIn(preview)] };
  if (!(await isConfirmed(call.context, call.command, plan))) return;
  const rows = await runParts(call, parts, whole, slice);
  const counted = countsOf(rows);
  const summary = [
    done(rowsText(counted.done)),
    `${counted.unchanged} unchanged`,
    `${counted.refused} refused`,
  ];
  const text = [counted.done === whole ? summary[0] : summary.join(", "), ...linesOf(rows)].join("\n");
  call.output.result({ changed: counted.done > 0, ...counted, items: rows.map(toItem) }, text);
  if (counted.refused > 0) throw new SomeFailed(`${counted.refused} of ${rowsText(rows.length)} refused`);
}

async function runParts<Filter>(
  call: Call,
  parts: readonly BulkSelection<Filter>[],
  whole: number,
  slice: BulkVerb<Filter>["slice"],
): Promise<BulkRow[]> {
  const signal = call.context.stopSignal();
  const rows: BulkRow[] = [];
  for (const selection of parts) {
    let cursor: string | undefined;
    do {
      signal.throwIfAborted();
      const isFirst = rows.length === 0;
      const { rows: some, next } = await slice({ selection, cursor, ...(isFirst && { whole }) });
      rows.push(...some);
      cursor = next ?? undefined;
    } while (cursor !== undefined);
  }
  return rows;
}

/** A slice takes at most BULK_ROWS_MAX ids. */
function partsOf<Filter>(chosen: BulkSelection<Filter>): BulkSelection<Filter>[] {
  if (!("ids" in chosen)) return [chosen];
  const ids = [...new Set(chosen.ids)];
  return Array.from({ length: Math.ceil(ids.length / BULK_ROWS_MAX) }, (_, part) => ({
    ids: ids.slice(part * BULK_ROWS_MAX, (part + 1) * BULK_ROWS_MAX),
  }));
}

function countsOf(rows: readonly BulkRow[]): Record<BulkRow["result"], number> {
  const having = (wanted: BulkRow["result"]): number => rows.filter(({ result }) => result === wanted).length;
  return { done: having("done"), unchanged: having("unchanged"), refused: having("refused") };
}

function exceptionsIn(rows: readonly BulkRow[]): string[] {
  const exceptions = rows.filter(({ result }) => result !== "done");
  const further = rows.filter(({ result, why }) => result === "done" && why !== undefined);
  const more = exceptions.length - NAMED_MAX;
  return [
    ...exceptions.slice(0, NAMED_MAX).map(({ id, name = id, why = "" }) => `${name} does not change: ${why}`),
    ...(more > 0 ? [`and ${more} more do not change`] : []),
    ...further.map(({ id, name = id, why = "" }) => `${name}: ${why}`),
  ];
}

const linesOf = (rows: readonly BulkRow[]): string[] =>
  rows
    .filter(({ result, why }) => result !== "done" || why !== undefined)
    .map(
      ({ id, name = id, result, why = "" }) => `${result.padEnd(WORD_WIDTH)}${printable(`${name}: ${why}`)}`,
    );

const toItem = ({
  id,
  name = null,
  result,
  why = null,
}: {
  id: string;
  name?: string | null | undefined;
  result: string;
  why?: string | null;
}) => ({
  id,
  name: name ?? null,
  result,
  reason: why ?? null,
});
