// The SQL of a filter: every name comes from operands-store.ts, every literal is bound (shape.ts), so the text depends only on
// the shape of the tree. Equivalent to evaluate.ts. search-store.ts runs the statements.
import { type SQL, sql } from "drizzle-orm";
import { pathText } from "../schema/attribute-path.ts";
import type { Comparison, ElementTest, Filter, Presence } from "./model.ts";
import { operandOf, type Rows, rowsOf } from "./operands-store.ts";
import { BOUND, type Shape } from "./shape.ts";

type OperandOf = Rows["operandOf"];

/**
 * @param numbers of the filter's shape; they name the bound values
 * @returns a condition on `scim_users` (and `scim_user_revisions`, see `namesRevision`) or `scim_groups`; also binds
 * `organizationId`
 * @source SCIM-128 to SCIM-131
 */
export const whereOf = (filter: Filter, numbers: Shape["numbers"]): SQL =>
  new Compiler(numbers, operandOf).condition(filter);

/**
 * @returns whether an index finds the matches: those of one part of an `and`, or of every part of an `or`
 * @source SCIM-132
 */
export const isIndexed = (filter: Filter): boolean => isFound(filter, operandOf);

/** @returns whether the index lookup of one value leaves few resources, usually one or none */
export function isSelective(filter: Filter): boolean {
  if (filter.kind === "and") return filter.parts.some(isSelective);
  return filter.kind === "compare" && filter.comparator === "eq" && operandOf(filter)?.index !== undefined;
}

function isFound(filter: Filter, of: OperandOf): boolean {
  switch (filter.kind) {
    case "and":
      return filter.parts.some((part) => isFound(part, of));
    case "or":
      return areOfOneTable(filter.parts, of) && filter.parts.every((part) => isFound(part, of));
    case "element":
      return lookupOf(filter) !== undefined;
    case "compare":
      return filter.comparator !== "co" && filter.comparator !== "ew" && of(filter)?.index !== undefined;
    default:
      return false;
  }
}

/** @returns whether a test is about the revision of a user, which is in its own table */
export const namesRevision = (filter: Filter): boolean => isOfRevision(filter, operandOf);

function isOfRevision(filter: Filter, of: OperandOf): boolean {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.parts.some((part) => isOfRevision(part, of));
    case "not":
      return isOfRevision(filter.part, of);
    default:
      return filter.kind !== "element" && of(filter)?.isOfRevision === true;
  }
}

/** For alternatives in two tables, SQLite uses neither table's indexes. */
const areOfOneTable = (parts: readonly Filter[], of: OperandOf): boolean =>
  new Set(parts.map((part) => isOfRevision(part, of))).size === 1;

/** @returns the rows to start from, if they have all tested attributes and an index finds them */
function lookupOf({ path, filter }: ElementTest): Rows | undefined {
  const { lookup } = rowsOf(path);
  if (!lookup) return undefined;
  const { operandOf: of } = lookup;
  return hasAllOperands(filter, of) && isFound(filter, of) ? lookup : undefined;
}

function hasAllOperands(filter: Filter, of: OperandOf): boolean {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.parts.every((part) => hasAllOperands(part, of));
    case "not":
      return hasAllOperands(filter.part, of);
    default:
      return filter.kind !== "element" && of(filter) !== undefined;
  }
}

class Compiler {
  /** @param isDefinite whether each test must be 0 or 1: NULL counts as false, but not when negated (SCIM-130) */
  constructor(
    readonly numbers: Shape["numbers"],
    readonly operandOf: OperandOf,
    readonly isDefinite = false,
  ) {}

  condition(filter: Filter): SQL {
    switch (filter.kind) {
      case "and":
        return balanced(
          filter.parts.map((part) => this.condition(part)),
          { by: sql` AND `, empty: sql`1` },
        );
      case "or":
        return balanced(this.#alternatives(filter.parts), { by: sql` OR `, empty: sql`0` });
      case "not":
        return sql`NOT ${new Compiler(this.numbers, this.operandOf, true).condition(filter.part)}`;
      case "element":
        return this.#element(filter);
      case "present":
        return sql`(${this.#expression(filter)} IS NOT NULL)`;
      case "compare":
        return this.#comparison(filter);
    }
  }

  /** Several `eq` of one attribute become one `IN`. */
  #alternatives(parts: readonly Filter[]): SQL[] {
    const equal = Map.groupBy(parts.filter(isEquality), ({ path }) => pathText(path));
    const grouped = [...equal.values()].map((tests) => this.#oneOf(tests));
    const others = parts.filter((part) => !isEquality(part)).map((part) => this.condition(part));
    return [...grouped, ...others];
  }

  #oneOf(tests: readonly Comparison[]): SQL {
    const [first] = tests;
    if (!first || tests.length === 1) return sql.join(tests.map((test) => this.#comparison(test)));
    const values = tests.map((test) => this.#bound(BOUND.value, test));
    return this.#compared(first, sql`${this.#expression(first)} IN (${sql.join(values, sql`, `)})`);
  }

  #element(test: ElementTest): SQL {
    const rows = lookupOf(test) ?? rowsOf(test.path).each;
    return rows.some(new Compiler(this.numbers, rows.operandOf).condition(test.filter));
  }

  #comparison(test: Comparison): SQL {
    const expression = this.#expression(test);
    const value = this.#bound(BOUND.value, test);
    switch (test.comparator) {
      case "eq":
        if (this.isDefinite) return sql`(${expression} IS ${value})`;
        return this.#compared(test, sql`${expression} = ${value}`);
      case "co":
        return this.#compared(test, sql`instr(${expression}, ${value}) > 0`);
      case "sw": {
        const limit = this.#bound(BOUND.limit, test);
        return this.#compared(test, sql`${expression} >= ${value} AND ${expression} < ${limit}`);
      }
      case "ew": {
        const length = this.#bound(BOUND.length, test);
        return this.#compared(
          test,
          sql`substr(CAST(${expression} AS BLOB), -${length}, ${length}) = ${value}`,
        );
      }
      default:
        return this.#compared(test, sql`${expression} ${ORDERS[test.comparator]} ${value}`);
    }
  }

  /** An indexed condition names the organization itself, because the index starts with it (see search-store.ts). */
  #compared(test: Comparison, condition: SQL): SQL {
    if (this.isDefinite) return sql`COALESCE(${condition}, 0)`;
    const organization = this.operandOf(test)?.index?.organization;
    return organization ? sql`(${organization} AND ${condition})` : sql`(${condition})`;
  }

  #expression(test: Presence | Comparison): SQL {
    const operand = this.operandOf(test);
    if (!operand) throw new TypeError(`${pathText(test.path)} is not among these rows`);
    return operand.expression;
  }

  #bound(name: (number: number) => string, test: Comparison): SQL {
    const number = this.numbers.get(test);
    if (number === undefined) throw new TypeError("the shape is of another filter");
    return sql`${sql.placeholder(name(number))}`;
  }
}

const ORDERS = { gt: sql`>`, ge: sql`>=`, lt: sql`<`, le: sql`<=` } as const;

const isEquality = (part: Filter): part is Comparison => part.kind === "compare" && part.comparator === "eq";

/** SQLite refuses expressions that are nested deeper than 1,000. */
function balanced(conditions: readonly SQL[], joint: { by: SQL; empty: SQL }): SQL {
  const [first] = conditions;
  if (!first) return joint.empty;
  if (conditions.length === 1) return first;
  const half = conditions.length >> 1;
  const left = balanced(conditions.slice(0, half), joint);
  return sql`(${left}${joint.by}${balanced(conditions.slice(half), joint)})`;
}
