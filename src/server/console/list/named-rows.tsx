// The rows of a selection by name, in the question before an action on them.
/** @jsxImportSource preact */
import type { BulkRow } from "../../../domain/shared/bulk.ts";
import { numberText } from "../parts/texts.ts";
import { Text } from "../parts/values.tsx";

/** Nouns for one row and for several. */
type Nouns = readonly [string, string];

/** @returns a count with its noun, with the reader's grouping */
export const countedRows = ([one, many]: Nouns, count: number, language: string): string =>
  `${numberText(count, language)} ${count === 1 ? one : many}`;

/** A longer list of exceptions is folded. */
const EXCEPTIONS_OPEN = 5;
/** A longer list of names is folded. */
const NAMES_OPEN = 10;

interface RowListProps {
  nouns: Nouns;
  rows: readonly BulkRow[];
  language: string;
}

/** Names what was selected: a short list in a separate sentence, a long one folded. */
export function Names({ nouns, rows, language }: RowListProps) {
  const names = rows.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <Text value={name ?? id} />
    </span>
  ));
  const counted = countedRows(nouns, rows.length, language);
  if (rows.length > NAMES_OPEN)
    return (
      <details>
        <summary>{counted}</summary>
        {names}
      </details>
    );
  return (
    <>
      {counted}: {names}
    </>
  );
}

export function Exceptions({ nouns, rows, language }: RowListProps) {
  return (
    <details open={rows.length <= EXCEPTIONS_OPEN}>
      <summary>{countedRows(nouns, rows.length, language)} will not change</summary>
      <ul>
        {rows.map(({ id, name, why }) => (
          <li key={id}>
            <Text value={name ?? id} />
            {why !== undefined && `: ${why}`}
          </li>
        ))}
      </ul>
    </details>
  );
}
