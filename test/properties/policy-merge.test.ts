// Random documents of two authors: the three-way merge never loses a change of the dashboard, adopts changes of the
// file alone, and forgets no conflict, in one merge and in a sequence of merges.

import { describe, expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { diffDocuments } from "../../src/domain/governance/publishing/diff.ts";
import { changedPlaces, splitParts } from "../../src/domain/governance/publishing/document-paths.ts";
import {
  mergeDocuments,
  openConflicts,
  UNKNOWN_BASELINE,
} from "../../src/domain/governance/publishing/merge.ts";
import { tokensOf } from "../../src/platform/errors.ts";

/** Few names and values, so that the authors often change the same place. */
const scalar = fc.constantFrom<unknown>("a", "b", 1, true, null);
const name = fc.constantFrom("one", "two", "a/b", "~");
const settings: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const entries = (member: string) =>
  fc
    .uniqueArray(
      fc.record({
        key: name,
        rest: fc.dictionary(fc.constantFrom("x", "y"), settings, { maxKeys: 2, noNullPrototype: true }),
      }),
      { selector: ({ key }) => key, maxLength: 3 },
    )
    .map((list) => list.map(({ key, rest }) => ({ [member]: key, ...rest })));
const harness = fc.record(
  { managed_config: settings, mcp: entries("name"), version_requirement: scalar },
  { requiredKeys: [], noNullPrototype: true },
);
const document = fc.record(
  {
    required: fc.boolean(),
    ttl_seconds: scalar,
    allowed: fc.array(scalar, { maxLength: 2 }),
    packages: entries("id"),
    harnesses: fc.dictionary(fc.constantFrom("codex", "kimi"), harness, { noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
/** Two documents that were derived from a third: most of their content is still the same. */
const versions = fc
  .tuple(document, document, document, fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }))
  .map(([baseline, ours, theirs, picks]) => {
    const members = ["required", "ttl_seconds", "allowed", "packages", "harnesses"] as const;
    const from = (own: object, chosen: number): object =>
      Object.fromEntries(
        members.flatMap((member, at) => {
          const value = valueAt((picks[at] ?? 0) === chosen ? baseline : own, `/${member}`);
          return value === undefined ? [] : [[member, value]];
        }),
      );
    return { baseline, current: from(ours, 1), wanted: from(theirs, 2) };
  });

const within = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);
const touches = (conflicts: readonly string[], path: string): boolean =>
  conflicts.some((conflict) => within(path, conflict) || within(conflict, path));

const valueAt = (document: unknown, pointer: string): unknown => changedPlaces(document)(pointer);
/** A value without named parts is changed as a whole. */
const isWhole = (document: unknown, pointer: string): boolean =>
  splitParts(tokensOf(pointer), valueAt(document, pointer)) === undefined;

const namesAt = (document: unknown, pointer: string): string[] => [
  ...(splitParts(tokensOf(pointer), valueAt(document, pointer))?.keys() ?? []),
];
/** Every place with a name, from the root down. */
function placesOf(value: unknown, path: readonly string[] = []): string[] {
  const parts = splitParts(path, value);
  const own = path.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return [own, ...[...(parts ?? [])].flatMap(([key, part]) => placesOf(part, [...path, key]))];
}

/** Entries of lists with names by their names. */
function unordered(path: readonly string[], value: unknown): unknown {
  const parts = splitParts(path, value);
  if (!parts) return value;
  const named = [...parts].map(([key, part]) => [key, unordered([...path, key], part)]);
  return [Array.isArray(value), Object.fromEntries(named)];
}

const RUNS = { numRuns: 150 };

describe("one merge", () => {
  test("keeps every dashboard change, addition and removal", () => {
    fc.assert(
      fc.property(versions, ({ baseline, current, wanted }) => {
        const { merged } = mergeDocuments({ baseline, current, wanted });
        for (const { path, order } of diffDocuments(baseline, current)) {
          if (order) {
            const [ours = [], left = []] = [current, merged].map((side) => namesAt(side, path));
            const kept = left.filter((entry) => ours.includes(entry));
            expect(kept).toEqual(ours.filter((entry) => kept.includes(entry)));
            continue;
          }
          const changed = placesOf(current).filter((place) => within(place, path));
          const gone = changed.length === 0 ? [path] : [];
          // Below a place that both have added, a part that only the file has may be added.
          for (const place of [...gone, ...changed.filter((at) => isWhole(current, at))]) {
            expect([place, valueAt(merged, place)]).toEqual([place, valueAt(current, place)]);
          }
        }
      }),
      RUNS,
    );
  });

  test("applies every file change outside the reported conflicts", () => {
    fc.assert(
      fc.property(versions, ({ baseline, current, wanted }) => {
        const { merged, conflicts } = mergeDocuments({ baseline, current, wanted });
        for (const { path } of diffDocuments(baseline, wanted)) {
          if (isDeepStrictEqual(valueAt(merged, path), valueAt(wanted, path))) continue;
          const isOurs = diffDocuments(baseline, current).some(
            (ours) => within(ours.path, path) || within(path, ours.path),
          );
          expect([path, touches(conflicts, path) || isOurs]).toEqual([path, true]);
        }
      }),
      RUNS,
    );
  });

  test("reports a conflict exactly where both sides changed the same path differently, and keeps the dashboard's value there", () => {
    fc.assert(
      fc.property(versions, ({ baseline, current, wanted }) => {
        const { merged, conflicts } = mergeDocuments({ baseline, current, wanted });
        for (const path of conflicts) {
          const [before, ours, theirs] = [baseline, current, wanted].map((side) => valueAt(side, path));
          expect(
            isDeepStrictEqual(before, ours) ||
              isDeepStrictEqual(before, theirs) ||
              isDeepStrictEqual(ours, theirs),
          ).toBe(false);
          expect(isDeepStrictEqual(valueAt(merged, path), ours)).toBe(true);
        }
        const both = placesOf(baseline)
          .concat(placesOf(current), placesOf(wanted))
          .filter((path) => {
            const [before, ours, theirs] = [baseline, current, wanted].map((side) => valueAt(side, path));
            const isLeaf = isWhole(current, path) && isWhole(wanted, path);
            return (
              isLeaf &&
              !isDeepStrictEqual(before, ours) &&
              !isDeepStrictEqual(before, theirs) &&
              !isDeepStrictEqual(ours, theirs)
            );
          });
        for (const path of both) expect([path, touches(conflicts, path)]).toEqual([path, true]);
      }),
      RUNS,
    );
  });

  test("CON-53 takes the wanted value only at conflicts that were decided for it", () => {
    fc.assert(
      fc.property(versions, fc.infiniteStream(fc.boolean()), ({ baseline, current, wanted }, choices) => {
        const undecided = mergeDocuments({ baseline, current, wanted });
        const chosen = new Map(undecided.conflicts.map((path) => [path, choices.next().value === true]));
        const decided = mergeDocuments({ baseline, current, wanted }, (path) => chosen.get(path) === true);
        expect(decided.conflicts).toEqual(undecided.conflicts);
        for (const [path, isWanted] of chosen)
          expect([path, valueAt(decided.merged, path)]).toEqual([
            path,
            valueAt(isWanted ? wanted : current, path),
          ]);
        if (![...chosen.values()].includes(true)) expect(decided.merged).toEqual(undecided.merged);
      }),
      RUNS,
    );
  });

  test("CON-53 is symmetric: exchanged sides with opposite decisions give the same result except for the order", () => {
    fc.assert(
      fc.property(versions, ({ baseline, current, wanted }) => {
        const one = mergeDocuments({ baseline, current, wanted }, () => true);
        const other = mergeDocuments({ baseline, current: wanted, wanted: current });
        expect(new Set(one.conflicts)).toEqual(new Set(other.conflicts));
        expect(unordered([], one.merged)).toEqual(unordered([], other.merged));
      }),
      RUNS,
    );
  });

  test("CON-53 keeps an order that one side changed, and asks if both changed it in different ways", () => {
    const list = fc.shuffledSubarray(["a", "b", "c", "d", "e"], { minLength: 2 });
    const order = fc.shuffledSubarray(["a", "b", "c", "d", "e"], { minLength: 5 });
    const policy = (names: readonly string[]) => ({ packages: names.map((id) => ({ id })) });
    const orderOf = (merged: ReturnType<typeof policy>, names: readonly string[]) =>
      merged.packages.map(({ id }) => id).filter((id) => names.includes(id));
    fc.assert(
      fc.property(order, list, list, (before, ours, theirs) => {
        const versions = { baseline: policy(before), current: policy(ours), wanted: policy(theirs) };
        const { merged, conflicts, orders } = mergeDocuments(versions);
        const sorted = (names: readonly string[]) => before.filter((name) => names.includes(name));
        const isMoved = (names: readonly string[]) => !isDeepStrictEqual(sorted(names), [...names]);
        const both = ours.filter((name) => theirs.includes(name));
        const isContested =
          isMoved(ours) &&
          isMoved(theirs) &&
          !isDeepStrictEqual(
            both,
            theirs.filter((name) => ours.includes(name)),
          );
        expect([conflicts, orders]).toEqual([[], isContested ? ["/packages"] : []]);
        if (isContested) {
          const chosen = mergeDocuments(versions, () => true).merged;
          expect(orderOf(merged, ours)).toEqual(ours.filter((name) => both.includes(name)));
          expect(orderOf(chosen, theirs)).toEqual(theirs.filter((name) => both.includes(name)));
          return;
        }
        const kept = isMoved(theirs) ? theirs : ours;
        expect(orderOf(merged, kept)).toEqual(kept.filter((name) => both.includes(name)));
      }),
      RUNS,
    );
  });

  test.each([
    [
      ["a", "b"],
      ["a", "b", "c"],
      ["a", "n", "b"],
      ["a", "n", "b", "c"],
    ],
    [
      ["a", "b"],
      ["b", "a"],
      ["n", "a", "b"],
      ["n", "b", "a"],
    ],
    [
      ["a", "b"],
      ["a", "b", "n"],
      ["b", "a"],
      ["b", "n", "a"],
    ],
    [[], ["a", "b"], ["b", "c"], ["a", "b", "c"]],
  ])("merges %j, %j and %j to %j", (before, ours, theirs, expected) => {
    const policy = (names: readonly string[]) => ({ packages: names.map((id) => ({ id })) });
    const versions = { baseline: policy(before), current: policy(ours), wanted: policy(theirs) };
    expect(mergeDocuments(versions)).toEqual({ merged: policy(expected), conflicts: [], orders: [] });
  });

  test("CON-53 asks for the order of entries that no base has, and loses no entry of either side", () => {
    const policy = (names: readonly string[]) => ({ packages: names.map((id) => ({ id })) });
    const sides = { current: policy(["a", "b", "n"]), wanted: policy(["b", "a"]) };
    for (const versions of [
      { ...sides, baseline: UNKNOWN_BASELINE } as const,
      { ...sides, baseline: policy([]) },
    ]) {
      expect(mergeDocuments(versions).orders).toEqual(["/packages"]);
      const { merged } = mergeDocuments(versions, (path) => path === "/packages");
      expect(merged).toEqual(policy(["b", "n", "a"]));
    }
  });

  test("CON-53 archives of two authors are never mixed: the archive is one place, and all other members of a package are merged", () => {
    const policy = (more: object) => ({
      packages: [{ id: "a", version: "1", sha256: "0", name: "A", ...more }],
    });
    const merge = (current: object, wanted: object) =>
      mergeDocuments({ baseline: policy({}), current: policy(current), wanted: policy(wanted) });
    const [ours, theirs] = [{ sha256: "1" }, { version: "2", sha256: "2" }];
    expect(merge(ours, theirs)).toEqual({ merged: policy(ours), conflicts: ["/packages/a"], orders: [] });
    expect(merge({ name: "B" }, theirs).merged).toEqual(policy({ name: "B", ...theirs }));
    expect(merge(theirs, theirs).conflicts).toEqual([]);
    const versions = { baseline: policy({}), current: policy(ours), wanted: policy(theirs) };
    expect(mergeDocuments(versions, () => true).merged).toEqual(policy(theirs));
  });

  test("CON-53 decides every difference from an unknown base: deciding all for one side gives the document of that side", () => {
    fc.assert(
      fc.property(document, document, (current, wanted) => {
        const unknown = { baseline: UNKNOWN_BASELINE, current, wanted } as const;
        const all = (isWanted: boolean) => unordered([], mergeDocuments(unknown, () => isWanted).merged);
        expect(all(true)).toEqual(unordered([], wanted));
        expect(all(false)).toEqual(unordered([], current));
      }),
      RUNS,
    );
  });

  test("returns the changed document if only one side changed it", () => {
    fc.assert(
      fc.property(document, document, (baseline, changed) => {
        expect(mergeDocuments({ baseline, current: changed, wanted: baseline })).toEqual({
          merged: changed,
          conflicts: [],
          orders: [],
        });
        expect(mergeDocuments({ baseline, current: baseline, wanted: changed })).toEqual({
          merged: changed,
          conflicts: [],
          orders: [],
        });
      }),
      RUNS,
    );
  });
});

describe("a sequence of merges", () => {
  const step = fc.oneof(
    fc.record({ author: fc.constant("dashboard" as const), document }),
    fc.record({ author: fc.constant("file" as const), document }),
    fc.record({ author: fc.constant("restart" as const), document: fc.constant({}) }),
  );

  test("keeps a conflict exactly as long as the sides differ there", () => {
    fc.assert(
      fc.property(document, fc.array(step, { maxLength: 12 }), (first, steps) => {
        let [file, current, conflicts] = [first as object, first as object, [] as string[]];
        let open = new Set<string>(); // the simple model: every conflict found and not yet settled
        for (const { author, document: said } of steps) {
          if (author === "dashboard") {
            current = said;
            conflicts = openConflicts(conflicts, { current, wanted: file });
          } else {
            const wanted = author === "file" ? said : file;
            const { merged, conflicts: found } = mergeDocuments({ baseline: file, current, wanted });
            conflicts = openConflicts([...conflicts, ...found], { current: merged, wanted });
            for (const path of found) open.add(path);
            [file, current] = [wanted, merged];
          }
          open = new Set(
            [...open].filter((path) => !isDeepStrictEqual(valueAt(current, path), valueAt(file, path))),
          );
          expect(new Set(conflicts)).toEqual(open);
        }
      }),
      { numRuns: 150 },
    );
  });
});
