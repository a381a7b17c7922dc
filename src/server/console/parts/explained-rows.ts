// Rows of the page with the effect of the policy: the first part of explanations that may have thousands of values.
import type { Explanation } from "../../../domain/governance/service.ts";
import { hasVariablesAt } from "../../../domain/governance/shown/hidden-variables.ts";
import type { Steps } from "../../../platform/steps.ts";
import { EXPLAINED_ROWS_MAX } from "../parts/not-shown.tsx";

/** One column of the comparison. */
export interface Explained {
  /** address of the person, and which policy */
  label: string;
  explanation: Explanation;
}

export type ExplainedValue = Explanation["values"][number];
export type ExplainedPackage = Explanation["packages"][number];

export interface Comparison {
  /** none until somebody asks; the others are compared with the first */
  sides: readonly Explained[];
  values: ComparedRows<ExplainedValue>;
  packages: ComparedRows<ExplainedPackage>;
  /** a value that the page hides, if there is one */
  variable: ExplainedValue | undefined;
}

/** One row for each name on any side. */
export interface ComparedRows<Row> {
  total: number;
  /** the first EXPLAINED_ROWS_MAX rows; a cell for each side */
  shown: readonly { key: string; cells: readonly (Row | undefined)[] }[];
}

/** Work in steps, because other requests run between two explanations. */
export function* comparisonOf(sides: readonly Explained[]): Steps<Comparison> {
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
  const all = explanations.values().flatMap(({ values }) => values);
  const variable = all.find(({ pointer, value }) => hasVariablesAt(pointer, value));
  return { sides, values, packages, variable };
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
