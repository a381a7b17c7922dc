// SQL of the filters of the request log: the rows that a filter selects, and their order.
import { and, eq, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { OrderedList, RowOrder } from "../../shared/ordered-rows-store.ts";
import type { Result, RowFilter, RowSearch } from "./model.ts";
import type { RequestRow } from "./record.ts";
import { requests } from "./tables.ts";

const { occurredAtMs, id, userId, model, httpStatus } = requests;

/** @returns order and conditions of the rows that a filter selects */
export function selectionOf({
  filter,
  sort,
}: Pick<RowSearch, "filter" | "sort">): Omit<OrderedList<RequestRow>, "read"> {
  const order: RowOrder = {
    table: requests,
    columns: [occurredAtMs, id],
    isDescending: sort === "occurred_desc",
    from: filter.fromMs,
    before: filter.beforeMs,
  };
  const { user, named, conditions } = conditionsOf(filter);
  return { order, within: user ?? named ?? sql`TRUE`, matching: and(user && named, ...conditions) };
}

/** Users and models have indexes; other conditions are checked row by row. */
function conditionsOf(filter: RowFilter): {
  user: SQL | undefined;
  named: SQL | undefined;
  conditions: SQL[];
} {
  const { q, result, minTokens } = filter;
  const equal = (column: SQLiteColumn, value: string | undefined) =>
    value === undefined ? undefined : eq(column, value);
  const conditions = [
    equal(requests.profileId, filter.profileId),
    equal(requests.harness, filter.harness),
    equal(requests.outcome, filter.outcome),
    equal(requests.runId, filter.runId),
    result && hasResult(result),
    minTokens === undefined
      ? undefined
      : sql`coalesce(${requests.inputTokens}, 0) + coalesce(${requests.outputTokens}, 0) >= ${minTokens}`,
    q === undefined ? undefined : containsText(q),
  ];
  return {
    user: equal(userId, filter.userId),
    named: equal(model, filter.model),
    conditions: conditions.filter((condition) => condition !== undefined),
  };
}

/** First digit of the status. */
const CLASS_OF: Readonly<Record<Exclude<Result, "transport_error">, number>> = {
  success: 2,
  redirect: 3,
  client_error: 4,
  server_error: 5,
};

const hasResult = (result: Result): SQL => {
  if (result === "transport_error") return sql`(${httpStatus} IS NULL OR ${httpStatus} < 200)`;
  const lowest = CLASS_OF[result] * 100;
  return sql`${httpStatus} BETWEEN ${lowest} AND ${lowest + 99}`;
};

const SEARCHED = [
  requests.path,
  requests.model,
  requests.profileName,
  requests.repository,
  requests.branch,
  requests.runId,
];

const containsText = (q: string): SQL => {
  const pattern = globOf(q);
  return sql`(${or(...SEARCHED.map((column) => sql`${column} GLOB ${pattern}`))})`;
};

/**
 * Each letter becomes the set of its cases, because LIKE ignores the case of ASCII letters only.
 * @returns a GLOB pattern that finds the literal text anywhere, case-insensitively
 */
const globOf = (text: string): string => `*${[...text].map(setOf).join("")}*`;

function setOf(character: string): string {
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  const single = [...cases].filter((each) => [...each].length === 1);
  return single.length > 1 || "*?[".includes(character) ? `[${single.join("")}]` : character;
}
