// The mutations that the run makes, and that its tables name existing files and mutations.
import { describe, expect, test } from "bun:test";
import { candidatesIn, isNamedBy } from "./candidates.ts";
import { ranLinesOf } from "./coverage.ts";
import { EQUIVALENT } from "./equivalent.ts";
import { mutationsOf } from "./mutations.ts";
import { PLACES } from "./places.ts";
import { filesOf } from "./workplace.ts";

const changedTexts = (source: string): string[] =>
  mutationsOf(source).map(({ start, end, text }) => source.slice(0, start) + text + source.slice(end));

describe("a mutation", () => {
  test.each([
    ["x(a < b);", "x((a) <= (b));"],
    ["x(a >= b);", "x((a) > (b));"],
    ["x(a === b);", "x((a) !== (b));"],
    ["x(a + b);", "x((a) - (b));"],
    ["x(a && b);", "x((a) || (b));"],
    ["x(a ?? b);", "x((a));"],
    ["x(!a);", "x(a);"],
    ["x(await a);", "x((a));"],
    ["x(41);", "x(42);"],
    ["x(true);", "x(false);"],
    ["a += b;", "a -= (b);"],
    ["x(a ? b : c);", "x(!(a) ? b : c);"],
    ["if (a) return;", "if (!(a)) return;"],
    ["if (a) throw b;", ";"],
    ["x();", ";"],
    ["y = a.some(b);", "y = a.every(b);"],
    ["y = Math.min(a, b);", "y = Math.max(a, b);"],
    ["y = and(a, or(b, c));", "y = and(or(b, c));"],
    ["y = and(a, or(b, c));", "y = and(a, or(c));"],
    ['y = equalAll(t, "a", "b");', 'y = equalAll(t, "b");'],
  ])("mutates %s to %s", (source, changed) => {
    const isInFunction = source.includes("return");
    const [before, after] = isInFunction ? ["function f() { ", " }"] : ["", ""];
    expect(changedTexts(before + source + after)).toContain(before + changed + after);
  });

  test.each([
    ["an import", 'import { a } from "b";'],
    ["a type", "type A = 1 | 2; interface B { c: 3; }"],
    ["a text", 'const a = "b"; const c = `d`;'],
    ["a limit with a name", "const ENTRIES_MAX = 10 * 2; export const A = 1;"],
    ["the number of rows of a statement", "const a = b.limit(1).all();"],
    ["a turn of the event loop", "async function a() { await setImmediate(); }"],
    ["what only a log receives on a condition", 'if (a > 1) log.warning("b", { c });'],
    ["the removal of a file that may be gone", "const a = () => rmSync(b, { force: true });"],
    ["how a file is opened for reading", "const a = b({ readonly: true });"],
    ["a signal to another process", "const a = () => process.kill(b, 0);"],
    ["a flush to the disk", "if (a !== undefined) fsyncSync(a); flushToDisk(b + 1);"],
    ["a step", "function* a() { yield; }"],
    ["what a log receives", 'log.info("a", { b: 1 + 2 });'],
  ])("does not mutate %s", (_what, source) => {
    expect(mutationsOf(source)).toEqual([]);
  });

  test.each([
    ["a return", "async function f() { return await a; }", false],
    ["either side of a return", "const f = async () => (b ? await a : await c);", false],
    ["a return in a catch", "async function f() { try { b; } catch { return await a; } }", false],
    ["a return in a try", "async function f() { try { return await a; } catch {} }", true],
    ["a return before a finally", "async function f() { try { return await a; } finally {} }", true],
    ["a function in a try", "try { f = async () => await a; } catch {}", false],
    ["what is not returned", "async function f() { const b = await a; }", true],
  ])("drops the await of %s only where that makes a difference", (_what, source, isDropped) => {
    const kinds = mutationsOf(source).map(({ kind }) => kind);
    expect(kinds.includes("dropped await")).toBe(isDropped);
  });

  test("keeps the signs that a comparison returns", () => {
    expect(mutationsOf("const a = () => (b ? -1 : 1);").map(({ kind }) => kind)).toEqual([
      "negated condition",
    ]);
  });

  test("mutates a negated or compared condition once", () => {
    expect(mutationsOf("x(!a ? b : c);").map(({ kind }) => kind)).toEqual([
      "dropped statement",
      "dropped negation",
    ]);
    expect(mutationsOf("x(a === b ? c : d);").map(({ kind }) => kind)).toEqual([
      "dropped statement",
      "=== to !==",
    ]);
  });

  test("reads generic arrow functions", () => {
    expect(mutationsOf("const a = <T>(b: T) => b;")).toEqual([]);
  });

  test("knows its lines", () => {
    const lines = mutationsOf("\n\nx(a <\nb);").map(({ line, lastLine }) => [line, lastLine]);
    expect(lines).toEqual([
      [3, 4],
      [3, 4],
    ]);
  });
});

test("the coverage of a test file names the lines that ran", () => {
  const report =
    "TN:\nSF:src/a.ts\nDA:1,1\nDA:2,0\nDA:30,41\nend_of_record\nTN:\nSF:src/b.ts\nDA:4,0\nend_of_record\n";
  expect(ranLinesOf(report)).toEqual(
    new Map([
      ["src/a.ts", new Set([1, 30])],
      ["src/b.ts", new Set()],
    ]),
  );
});

test.each(Object.entries(PLACES))("the place %s has files and tests", (_name, { files, tests }) => {
  for (const glob of [...files, ...tests]) expect([glob, filesOf([glob])]).not.toEqual([glob, []]);
});

test("each entry of the list of mutations that make no difference names one", () => {
  const candidates = candidatesIn(Object.keys(PLACES));
  const unused = EQUIVALENT.filter((entry) => !candidates.some((candidate) => isNamedBy(candidate, entry)));
  expect(unused).toEqual([]);
});
