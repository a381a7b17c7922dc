// Rows of the page with the effect of the policy: the first part of explanations that may have thousands of values.
import type { Explanation, Place, ShownPlaces } from "../../../domain/governance/service.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import { EXPLAINED_ROWS_MAX } from "../parts/not-shown.tsx";

/** One column of the comparison. */
export interface Explained {
  /** address of the person, and which policy */
  label: string;
  explanation: Explanation;
  /** why this person may run nothing, regardless of the policy */
  refusal?: string | undefined;
}

type ExplainedValue = Explanation["values"][number];
export type ShownValue = Omit<ExplainedValue, "value"> & { text: string };
export type ExplainedPackage = Explanation["packages"][number];

export interface Comparison {
  /** empty until requested; the others are compared with the first */
  sides: readonly Explained[];
  values: ComparedRows<ShownValue>;
  packages: ComparedRows<ExplainedPackage>;
  /** whether a shown value has secrets, hidden or not */
  hasSecrets: boolean;
}

/** One row for each name on any side. */
export interface ComparedRows<Row> {
  total: number;
  /** the first EXPLAINED_ROWS_MAX rows; a cell for each side */
  shown: readonly { key: string; cells: readonly (Row | undefined)[] }[];
}

/** Rows with values that may be long or secret. */
interface RowsWithValues extends Pick<Comparison, "packages"> {
  values: ComparedRows<ExplainedValue>;
}

/**
 * @param textsOf writes the values of places, in their order
 * @returns the rows of all sides
 */
export async function comparisonOf(
  sides: readonly Explained[],
  textsOf: (places: readonly Place[]) => Promise<ShownPlaces>,
): Promise<Comparison> {
  const { values, packages } = await runInTurns(rowsOf(sides));
  const places = values.shown.map(({ key, cells }) => {
    const given = cells.flatMap((cell, at) => (cell ? [[sideAt(at), cell.value]] : []));
    return { path: key, ...Object.fromEntries(given) };
  });
  const { texts, hasSecrets } = await textsOf(places);
  const shown = values.shown.map(({ key, cells }, row) => ({
    key,
    cells: cells.map((cell, at) => cell && { ...cell, text: texts[row]?.[sideAt(at)] ?? "" }),
  }));
  return { sides, values: { ...values, shown }, packages, hasSecrets };
}

/** A prefixed name keeps the order of members; an integer name would not. */
const sideAt = (at: number): string => `side ${at}`;

/** Yields between explanations, so that other requests can run. */
function* rowsOf(sides: readonly Explained[]): Steps<RowsWithValues> {
  const explanations = sides.map(({ explanation }) => explanation);
  const values = yield* comparedRows(
    explanations,
    ({ values }) => values,
    (value) => value.pointer,
  );
  const packages = yield* comparedRows(
    explanations,
    ({ packages }) => packages,
    (managed) => managed.id,
  );
  return { values, packages };
}

function* comparedRows<Row>(
  explanations: readonly Explanation[],
  rowsOf: (explanation: Explanation) => readonly Row[],
  keyOf: (row: Row) => string,
): Steps<ComparedRows<Row>> {
  const keys = new Set<string>();
  const columns: ReadonlyMap<string, Row>[] = [];
  for (const explanation of explanations) {
    const rows = new Map(rowsOf(explanation).map((row) => [keyOf(row), row]));
    for (const key of rows.keys()) keys.add(key);
    columns.push(rows);
    yield;
  }
  const shown = [...keys.values().take(EXPLAINED_ROWS_MAX)];
  return {
    total: keys.size,
    shown: shown.map((key) => ({ key, cells: columns.map((rows) => rows.get(key)) })),
  };
}
