// Random filters over random resources: SQL finds the same resources as the evaluator in memory, in the requested
// order, and its text depends only on the shape of a filter. Parsing fails only with its own error.
import { describe, expect, test } from "bun:test";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { ScimError } from "../../src/domain/scim/errors.ts";
import { matches } from "../../src/domain/scim/filter/evaluate.ts";
import { FILTER_LENGTH_MAX } from "../../src/domain/scim/filter/model.ts";
import { parseFilter, parseFilters, parseTarget } from "../../src/domain/scim/filter/parse.ts";
import { shapeOf } from "../../src/domain/scim/filter/shape.ts";
import { simplified } from "../../src/domain/scim/filter/simplify.ts";
import { whereOf } from "../../src/domain/scim/filter/where-store.ts";
import type { ScimObject } from "../../src/domain/scim/model.ts";
import { resolvePath } from "../../src/domain/scim/schema/attribute-path.ts";
import { elementsOf, partsOf } from "../../src/domain/scim/schema/document.ts";
import { foldCase } from "../../src/domain/scim/schema/values.ts";
import { CORE_USER, RESOURCE_TYPES, type ResourceTypeName } from "../../src/domain/scim/wire.ts";
import {
  createSearchWorld,
  type ListResponse,
  type SearchWorld,
} from "../domain/scim/search/search-world.ts";
import { attributeAt, FILTERS, type Population, pathsOf, populations, TEXTS } from "./scim-filter-texts.ts";

/** A run creates a database and runs dozens of filters or orders on it. */
const RUNS = 5;

async function populate(
  world: SearchWorld,
  { people, groups }: Population,
): Promise<ListResponse["Resources"]> {
  const ids = await world.addUsers(...people);
  for (const [at, members] of groups.entries()) {
    const known = [...new Set(members)].flatMap((member) => ids[member] ?? []);
    await world.addGroup(`${TEXTS[at * 4]}${at}`, known, at % 2 ? undefined : TEXTS[at]);
  }
  return (await world.list("all", { count: 200 })).Resources;
}

const idsOf = (resources: readonly { id: string }[]): string[] => resources.map(({ id }) => id);
const typeOf = ({ meta }: ScimObject): unknown =>
  typeof meta === "object" && "resourceType" in meta ? meta.resourceType : undefined;

describe("SCIM-130 SQL finds the same resources as the evaluator", () => {
  test(
    "finds the same resources for any filter on any resources of one type and of both",
    async () => {
      const filters = RESOURCE_TYPES.flatMap((type) =>
        Array.from({ length: 12 }, () => FILTERS[type].map((text) => ({ type, text }))),
      );
      await fc.assert(
        fc.asyncProperty(populations, fc.tuple(...filters), async (population, parameters) => {
          await using world = await createSearchWorld();
          const all = await populate(world, population);
          for (const { type, text } of parameters) {
            const own = all.filter((resource) => typeOf(resource) === type);
            const filter = parseFilter(type, text);
            const expected = own.filter((resource) => matches(filter, resource));
            expect([text, await world.found(type, text)]).toEqual([text, idsOf(expected)]);
            const both = parseFilters(text);
            const ofBoth = all.filter((resource) => matches(both[ofType(resource)], resource));
            expect([text, await world.found("all", text)]).toEqual([text, idsOf(ofBoth)]);
          }
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    },
    { timeout: 60_000 },
  );
});

const ofType = (resource: ScimObject): ResourceTypeName => (typeOf(resource) === "User" ? "User" : "Group");

describe("SQL sorts like the comparison of values", () => {
  const sortable = pathsOf("User").filter((name) => attributeAt("User", name).type !== "complex");
  test(
    "sorts by any attribute in any direction",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          populations,
          fc.shuffledSubarray(sortable, { minLength: 12, maxLength: 12 }),
          fc.boolean(),
          async (population, names, isDescending) => {
            await using world = await createSearchWorld();
            const all = await populate(world, population);
            const sortOrder = isDescending ? "descending" : "ascending";
            for (const sortBy of names) {
              const own = all.filter((resource) => typeOf(resource) === "User");
              const { Resources } = await world.list("User", { sortBy, sortOrder });
              const expected = idsOf(inOrder(own, sortBy, isDescending));
              expect([sortBy, sortOrder, idsOf(Resources)]).toEqual([sortBy, sortOrder, expected]);
            }
          },
        ),
        { numRuns: RUNS, endOnFailure: true },
      );
    },
    { timeout: 60_000 },
  );
});

/** Missing values last, or first when descending; equal values stay in order of creation. */
function inOrder<R extends ScimObject>(resources: readonly R[], name: string, isDescending: boolean): R[] {
  const keyed = resources.map((resource) => ({ resource, key: sortKey(resource, name) }));
  const direction = isDescending ? -1 : 1;
  return keyed
    .toSorted(({ key: one }, { key: other }) => {
      if (one === undefined || other === undefined)
        return direction * (Number(one === undefined) - Number(other === undefined));
      return direction * Buffer.compare(Buffer.from(one), Buffer.from(other));
    })
    .map(({ resource }) => resource);
}

function sortKey(resource: ScimObject, name: string): string | undefined {
  const path = resolvePath("User", name);
  if (!path?.attribute) throw new Error(`no ${name}`);
  const { extension, attribute, sub } = path;
  const found = (extension ? partsOf(resource[extension.id]) : resource)[attribute.name];
  const list = elementsOf(found);
  const single = attribute.multiValued ? (list.find(({ primary }) => primary === true) ?? list[0]) : found;
  const value = sub ? partsOf(single)[sub.name] : single;
  if (value === undefined) return undefined;
  return (sub ?? attribute).caseExact ? String(value) : foldCase(String(value));
}

describe("the text of the SQL", () => {
  const dialect = new SQLiteSyncDialect();
  const sqlOf = (type: ResourceTypeName, text: string): [string, string] => {
    const filter = simplified(parseFilter(type, text));
    const { key, numbers } = shapeOf(filter);
    return [key, dialect.sqlToQuery(whereOf(filter, numbers)).sql];
  };

  test("depends only on the shape of a filter, not on its literals", () => {
    const harmless = (text: string) =>
      text.replace(/"(?:[^"\\]|\\.)*"/g, (literal) =>
        /^"(?:|true|false|\d{4}-.*)"$/i.test(literal) ? literal : '"x"',
      );
    const notAboutTypes = (text: string) => !text.includes("meta.resourceType");
    for (const type of RESOURCE_TYPES) {
      fc.assert(
        fc.property(FILTERS[type].filter(notAboutTypes), (text) => {
          expect(sqlOf(type, text)).toEqual(sqlOf(type, harmless(text)));
        }),
        { numRuns: 150 },
      );
    }
  });

  test("contains no literal", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: "grapheme" }),
        fc.constantFrom("eq", "co", "sw", "ew", "gt"),
        (text, operator) => {
          const marked = `mark${text}`;
          const [, sql] = sqlOf("User", `title ${operator} ${JSON.stringify(marked)}`);
          expect(sql).not.toContain("mark");
        },
      ),
    );
  });

  test("contains only names from the schema", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z$][A-Za-z0-9$_:.-]{0,30}$/), (name) => {
        const path = resolvePath("User", name);
        if (!path) expect(() => parseFilter("User", `${name} pr`)).toThrow(ScimError);
      }),
    );
  });
});

describe("the filter parser", () => {
  const pieces = fc.constantFrom(
    ...[
      "userName",
      " eq ",
      '"x"',
      "(",
      ")",
      "[",
      "]",
      " and ",
      " or ",
      "not ",
      "emails",
      ".",
      ".value",
      " pr",
      "null",
    ],
    ...["true", '"', "\\", "1e9", "-", CORE_USER, ":", "__proto__", "constructor", " ", "\t", "é", "\u0000"],
  );
  const mangled = fc.array(pieces, { maxLength: 30, size: "max" }).map((parts) => parts.join(""));

  test("fails only with its own errors", () => {
    fc.assert(
      fc.property(fc.oneof(mangled, fc.string({ unit: "binary" }), FILTERS.User), (text) => {
        for (const read of [parseFilter, parseTarget]) {
          try {
            read("User", text);
          } catch (error) {
            expect(error).toBeInstanceOf(ScimError);
          }
        }
      }),
      { numRuns: 700 },
    );
  });

  /** Each match of the text is one regular expression at one position; none looks behind. */
  const looksAt = (text: string): number => {
    const { exec } = RegExp.prototype;
    let looks = 0;
    RegExp.prototype.exec = function (parameters: string) {
      looks += 1;
      return exec.call(this, parameters);
    };
    try {
      parseFilter("User", text);
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
    } finally {
      RegExp.prototype.exec = exec;
    }
    return looks;
  };

  test.each([
    ["tests", (count: number) => Array(count).fill("title pr").join(" or ")],
    ["groups", (count: number) => Array(count).fill("((((title pr))))").join(" and ")],
    ["negations", (count: number) => Array(count).fill("not (not (title pr))").join(" and ")],
  ])("needs time in proportion to the length: %s", (_what, text) => {
    const [some, twice] = [looksAt(text(100)), looksAt(text(200))];
    expect(some).toBeGreaterThan(100);
    expect(twice).toBeLessThan(2 * some + 20);
  });

  test.each([
    ["open parentheses", "(".repeat(100_000)],
    ["open parentheses, as many as a filter may be long", "(".repeat(FILTER_LENGTH_MAX)],
    ["nested negations", "not (".repeat(3_000)],
    ["text that never ends", `title eq "${"\\\\".repeat(8_000)}`],
    ["blanks", `title${" ".repeat(16_000)}`],
    ["a name", "a.".repeat(8_000)],
  ])("stops immediately on %s", (_what, text) => {
    expect(looksAt(text)).toBeLessThan(500);
  });
});
