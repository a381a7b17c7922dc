// Operations on many rows: a list of ids, or a filter with the number that the caller expects. One request handles one
// slice; the caller continues with the cursor of the response. The area defines the rows and the operation.
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { BULK_ROWS_MAX, type BulkSlice, toBulkResult } from "../../domain/shared/bulk.ts";
import { DomainError, invariant, type Problem } from "../../platform/errors.ts";
import { Uuid } from "./paging.ts";

/** Members of the body in addition to the filter and the members of the operation. */
const BulkMembers = {
  ids: Type.Optional(
    Type.Array(Uuid, { minItems: 1, maxItems: BULK_ROWS_MAX, description: "Instead of filter" }),
  ),
  expected: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "Rows that the caller expects to match; needed with a filter, except with dry_run or cursor. More are refused",
    }),
  ),
  cursor: Type.Optional(
    Type.String({ description: "`next_cursor` of the slice before, with the same filter" }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: "Report what would happen, and change nothing" })),
};

/** @returns the schema of the body; `filter` has the members of the list's query */
export const bulkBody = <Filter extends TProperties, More extends TProperties>(filter: Filter, more: More) =>
  Type.Object(
    {
      ...BulkMembers,
      filter: Type.Optional(
        Type.Object(filter, {
          additionalProperties: false,
          description: "Instead of ids; without members, all rows",
        }),
      ),
      ...more,
    },
    { additionalProperties: false },
  );

const Members = Type.Object(BulkMembers);

/** The functions that an area provides. `Selection` is the input of its domain. */
interface BulkOperation<Filter, Selection> {
  /** of the errors about the body */
  reason: string;
  selectionOf(chosen: { ids: readonly string[] } | { filter: Filter; text: string }): Selection;
  count(selection: Selection): Promise<number>;
  slice(slice: {
    selection: Selection;
    whole: number | undefined;
    cursor: string | undefined;
    isDryRun: boolean;
  }): Promise<BulkSlice>;
}

/**
 * Runs one slice.
 * @returns the body of the response
 * @throws DomainError `<reason>` for a wrong combination of members, `bulk.more_matching` if more rows match than expected
 */
export async function runBulk<Filter extends object, Selection>(
  body: Static<typeof Members> & { filter?: Filter },
  { reason, selectionOf, count, slice }: BulkOperation<Filter, Selection>,
) {
  const { ids, filter, expected, cursor, dry_run: isDryRun = false } = body;
  refuse(reason, problemsOf(body));
  const chosen = ids ? { ids } : filter && { filter, text: textOf(filter) };
  invariant(chosen, "the body has ids or a filter");
  const isFirst = cursor === undefined;
  return await withPlaces(async () => {
    const selection = selectionOf(chosen);
    const matching = isFirst ? await count(selection) : null;
    if (matching !== null && expected !== undefined && matching > expected)
      throw moreMatching(matching, expected);
    const whole = matching ?? undefined;
    return toBulkResult(await slice({ selection, whole, cursor, isDryRun }), { isDryRun, matching });
  });
}

function problemsOf({
  ids,
  filter,
  expected,
  cursor,
  dry_run: isDryRun,
}: Static<typeof Members> & { filter?: object }) {
  const problems: Problem[] = [];
  if ((ids === undefined) === (filter === undefined))
    problems.push({ pointer: "", detail: "either ids or filter must be given" });
  if (ids && cursor !== undefined)
    problems.push({
      pointer: "/cursor",
      detail: "cursor belongs to a filter; ids are handled by one request",
    });
  if (filter && expected === undefined && cursor === undefined && !isDryRun)
    problems.push({
      pointer: "/expected",
      detail: "expected must be given with a filter: the number of rows that match",
    });
  return problems;
}

function refuse(reason: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  throw new DomainError("invalid", reason, problems.map(({ detail }) => detail).join("; "), { problems });
}

/** The filter as recorded in the audit log. */
const textOf = (filter: object): string =>
  new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)])).toString();

const IN_BODY: ReadonlySet<string> = new Set(["", "/ids", "/cursor", "/action"]);

/** Pointers of the domain begin at the filter. Pointers of the response begin at the body. */
async function withPlaces<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "invalid") throw error;
    const { reason, message, problems } = error;
    throw new DomainError("invalid", reason, message, {
      problems: problems.map(({ pointer, detail }) => ({
        pointer: IN_BODY.has(pointer) ? pointer : `/filter${pointer}`,
        detail,
      })),
    });
  }
}

const moreMatching = (matching: number, expected: number): DomainError =>
  new DomainError(
    "conflict",
    "bulk.more_matching",
    `${matching} rows match now, more than the expected ${expected}; look at them, then send the new number`,
  );
