// Actions on many rows of a list: the question before the action, its progress, the result of each row, and remedies for
// refusals.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { BulkRow } from "../../../domain/shared/bulk.ts";
import { Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import type { Equivalents } from "../parts/command.tsx";
import { ConsoleForm, confirmationPage } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { numberText } from "../parts/texts.ts";
import { Text } from "../parts/values.tsx";
import { countedRows, Exceptions, Names } from "./named-rows.tsx";

/** The texts of one action. `rows` is a count with its noun, such as `12 users`. */
export interface BulkWords {
  /** of the button below the list */
  label: string;
  ask(rows: string): string;
  /** the effects of the action, and their limits */
  consequences: readonly string[];
  /** which rows do not change; shown only for a filter, because selected rows are listed */
  excepted?: string;
  /** of the button that starts the action */
  verb: string;
  done(rows: string): string;
  /** of a row for which it is done */
  doneRow: string;
  /** the action cannot be undone, or is equally sensitive */
  isSevere?: boolean;
}

/** Settings that all actions of one list share. */
export interface BulkView<Act extends string> {
  /** of the confirmation page and of its form */
  path: string;
  listPath: string;
  /** title of the list */
  list: string;
  /** nouns for one row and for several */
  nouns: readonly [string, string];
  words: Readonly<Record<Act, BulkWords>>;
}

interface Question<Act extends string> extends Equivalents {
  act: Act;
  language: string;
  /** rows that the selection has now */
  count: number;
  ids: readonly string[];
  /** query of the list; undefined for ids */
  filter: string | undefined;
  /** rows of the selection that will change; none for a filter, which only counts */
  named?: readonly BulkRow[];
  /** rows of the selection that will not change */
  exceptions?: readonly BulkRow[];
  /** rows that also change something else */
  further?: readonly BulkRow[];
  error?: string | undefined;
}

/** Asks before an action on many rows. For a whole filter, the number of rows must be typed. */
export function confirmMany<Act extends string>(view: BulkView<Act>, question: Question<Act>): ConsolePage {
  const { act, language, count, ids, filter, named = [], exceptions = [], further = [] } = question;
  const { error, command, api } = question;
  const { ask, consequences, excepted, verb, isSevere } = view.words[act];
  return confirmationPage({
    title: ask(countedRows(view.nouns, count, language)),
    consequences: [
      ...(filter === undefined ? [] : [whichText(view, filter)]),
      ...(named.length > 0 ? [<Names nouns={view.nouns} rows={named} language={language} />] : []),
      ...consequences,
      ...(filter !== undefined && excepted !== undefined ? [excepted] : []),
      ...(exceptions.length > 0
        ? [<Exceptions nouns={view.nouns} rows={exceptions} language={language} />]
        : []),
      ...further.map(({ id, name, why }) => <Text value={`${name ?? id}: ${why}`} />),
    ],
    action: view.path,
    fields: {
      act,
      ...(filter === undefined ? { ids: ids.join(",") } : { all: "1", filter, expected: String(count) }),
    },
    verb,
    back: `${view.listPath}${queryText(filter)}`,
    ...(filter !== undefined && { typed: String(count) }),
    ...(isSevere && { isSevere }),
    error,
    breadcrumbs: [{ href: view.listPath, label: view.list }],
    command,
    api,
  });
}

const whichText = ({ nouns: [, many] }: Pick<BulkView<never>, "nouns">, filter: string): string =>
  filter === "" ? `These are all ${many}.` : `These are all ${many} that match the filters now.`;

const queryText = (filter: string | undefined): string =>
  filter === undefined || filter === "" ? "" : `?${filter.replace(/^\?/, "")}`;

/** The progress of an action on a filter. */
export interface Progress {
  done: number;
  unchanged: number;
  refused: number;
  /** ids of the first refused rows, which can be tried again */
  refusedIds: readonly string[];
  /** rows that the action concerns */
  whole: number;
  /** rows that are not processed yet; 0 at the end */
  left: number;
  /** of the next slice; set at the end only if more rows match than were confirmed */
  cursor: string | undefined;
  /** query of the list */
  filter: string;
}

interface Result<Act extends string> {
  act: Act;
  rows: readonly BulkRow[];
  progress: Progress;
  language: string;
}

/** Shows the result of each row, and possible next steps. */
export function resultPage<Act extends string>(
  view: BulkView<Act>,
  { act, rows, progress, language }: Result<Act>,
): ConsolePage {
  const { done, unchanged, refused, refusedIds, whole, left, cursor, filter } = progress;
  const number = (value: number): string => numberText(value, language);
  const isOver = left === 0;
  return {
    title: isOver
      ? view.words[act].done(countedRows(view.nouns, done, language))
      : `${number(whole - left)} of ${number(whole)} done`,
    breadcrumbs: [{ href: view.listPath, label: view.list }],
    content: (
      <>
        <ul class="chips" aria-label="Result">
          <li>{number(done)} done</li>
          <li>{number(unchanged)} unchanged</li>
          <li>{number(refused)} refused</li>
        </ul>
        {!isOver && <NextSlice view={view} act={act} progress={progress} />}
        {isOver && refusedIds.length > 0 && (
          <Retry view={view} act={act} ids={refusedIds} hasMore={refused > refusedIds.length} />
        )}
        {isOver && cursor !== undefined && <Grown view={view} filter={filter} />}
        <Rows view={view} rows={rows} doneText={view.words[act].doneRow} />
        <p>
          <a href={view.listPath}>Back to the {view.nouns[1]}</a>
        </p>
      </>
    ),
  };
}

interface PartProps {
  view: Pick<BulkView<never>, "path" | "listPath" | "nouns">;
  act: string;
}

/** With the script, the form sends the next part by itself. */
function NextSlice({ view, act, progress }: PartProps & { progress: Progress }) {
  const { refusedIds, whole, left, cursor = "", ...counts } = progress;
  const fields = { act, all: "1", expected: whole, ...counts, left, cursor, ids: refusedIds.join(",") };
  return (
    <div class="panel">
      <p>
        <progress value={whole - left} max={whole} aria-label="Progress" />
      </p>
      <ConsoleForm action={view.path} isContinued>
        {Object.entries(fields).map(([name, value]) => (
          <Hidden key={name} name={name} value={String(value)} />
        ))}
        <div class="choices">
          <a class="button" href={view.listPath}>
            Stop here
          </a>
          <button class="button primary" type="submit">
            Continue
          </button>
        </div>
      </ConsoleForm>
    </div>
  );
}

/** Rows that match only after the confirmation do not change. */
const Grown = ({ view, filter }: Omit<PartProps, "act"> & { filter: string }) => (
  <p class="notice attention">
    More {view.nouns[1]} match these filters now than you confirmed, and nothing was done to the others.{" "}
    <a href={`${view.listPath}${queryText(filter)}`}>See the {view.nouns[1]} that match now</a>
  </p>
);

const Retry = ({ view, act, ids, hasMore }: PartProps & { ids: readonly string[]; hasMore: boolean }) => (
  <ConsoleForm action={view.path} class="panel">
    <Hidden name="act" value={act} />
    <Hidden name="ids" value={ids.join(",")} />
    <Hidden name="retry" value="1" />
    <button class="button" type="submit">
      {hasMore ? `Retry the first ${ids.length} of the refused ones` : "Retry the refused ones"}
    </button>
  </ConsoleForm>
);

interface RowsProps {
  view: PartProps["view"];
  rows: readonly BulkRow[];
  doneText: string;
}

function Rows({ view, rows, doneText }: RowsProps) {
  if (rows.length === 0) return null;
  const [noun] = view.nouns;
  const label = noun.charAt(0).toUpperCase() + noun.slice(1);
  const results = { done: doneText, unchanged: "Unchanged", refused: "Refused" };
  return (
    <table class="rows">
      <caption class="visually-hidden">result of each {noun}</caption>
      <TableHead labels={[label, "Result", "Reason"]} />
      <tbody>
        {rows.map(({ id, name, result, why }) => (
          <tr key={id}>
            <td data-label={label}>
              <Text value={name ?? id} />
            </td>
            <td data-label="Result">{results[result]}</td>
            <td data-label="Reason">
              <Text value={why && asSentence(why)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** No row of the selection would change, so there is nothing to confirm. */
export const unchangeablePage = <Act extends string>(
  view: BulkView<Act>,
  { act, rows, language }: { act: Act; rows: readonly BulkRow[]; language: string },
): ConsolePage => ({
  title: "Nothing to do",
  status: 409,
  isError: true,
  breadcrumbs: [{ href: view.listPath, label: view.list }],
  content: (
    <>
      <div class="error-summary" role="alert" tabIndex={-1} autofocus>
        <p>
          “{view.words[act].verb}” would change none of the {countedRows(view.nouns, rows.length, language)}{" "}
          that you selected.
        </p>
        <p>
          <a href={view.listPath}>Back to the {view.nouns[1]}</a>
        </p>
      </div>
      <Exceptions nouns={view.nouns} rows={rows} language={language} />
    </>
  ),
});

/** Nothing was selected, or the action is unknown. */
export const invalidSelectionPage = (
  { listPath, list, nouns }: Pick<BulkView<never>, "listPath" | "list" | "nouns">,
  why: ComponentChildren,
): ConsolePage => ({
  title: "Nothing to do",
  status: 400,
  isError: true,
  breadcrumbs: [{ href: listPath, label: list }],
  content: (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus>
      <p>{why}</p>
      <p>
        <a href={listPath}>Back to the {nouns[1]}</a>
      </p>
    </div>
  ),
});
