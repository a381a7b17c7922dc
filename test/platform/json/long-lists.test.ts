// Long lists are extracted from JSON text with any chunk boundaries. The extracted part and the rest together are the whole text.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type LongListProblem,
  LongLists,
  PART_CHARACTERS_MAX,
  SLICE_CHARACTERS,
} from "../../../src/platform/json/long-lists.ts";

const REST_MAX = 200_000;

class Refused extends Error {
  constructor(readonly problem: LongListProblem) {
    super(problem);
  }
}

interface Taken {
  rest: string;
  lists: { depth: number; elements: unknown[] }[];
  slices: { text: string; count: number; at: number }[];
  placeholder: string;
}

/** Extracts the lists in members named `members` from a text that arrives in chunks of that size. */
function take(text: string, { pieceSize = text.length, restMax = REST_MAX } = {}): Taken {
  const lists = new LongLists({
    isWanted: (name) => name === "members",
    restMax,
    errorOf: (problem) => new Refused(problem),
  });
  const taken: Taken = { rest: "", lists: [], slices: [], placeholder: lists.placeholder };
  for (let from = 0; from < text.length; from += pieceSize) {
    for (const { list, depth, ...slice } of lists.add(text.slice(from, from + pieceSize))) {
      const elements = JSON.parse(`[${slice.text}]`);
      taken.slices.push({ ...slice, count: slice.count - elements.length });
      taken.lists[list] ??= { depth, elements: [] };
      taken.lists[list].elements.push(...elements);
    }
  }
  taken.rest = lists.end();
  return taken;
}

/** The value with its lists restored. */
const whole = ({ rest, lists, placeholder }: Taken): unknown =>
  JSON.parse(rest, (_name, value) =>
    typeof value === "string" && value.startsWith(placeholder)
      ? lists[Number(value.slice(placeholder.length))]?.elements
      : value,
  );

const problemOf = (act: () => unknown): LongListProblem | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.problem;
    throw error;
  }
};

const members = (count: number, unit = (at: number): unknown => ({ value: `user ${at}` })) =>
  Array.from({ length: count }, (_, at) => unit(at));

/** Values whose text has everything that could be mistaken for an end: brackets, quotes, backslashes, names of lists. */
const tricky = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('"', "\\", '\\"', "]", "[", "},", '"members":[', "\\\\", "é😀", "members"),
);
const message = fc.record({
  before: tricky,
  members: fc.array(tricky, { maxLength: 6 }),
  after: fc.array(fc.record({ members: fc.oneof(tricky, fc.array(tricky, { maxLength: 4 })) }), {
    maxLength: 3,
  }),
});

test("a text without long lists stays as it is", () => {
  fc.assert(
    fc.property(
      message,
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(0, 1),
      (value, pieceSize, indent) => {
        const text = JSON.stringify(value, null, indent);
        const { rest, lists } = take(text, { pieceSize });
        expect(rest).toBe(text);
        expect(lists).toEqual([]);
      },
    ),
  );
});

test.each([5, 7])("the depth of a list is the same in pieces of %d characters", (pieceSize) => {
  const long = members(2 * SLICE_CHARACTERS, () => 1);
  const text = JSON.stringify({ before: [[[{}]]], nested: [[{ members: long }]] });
  const { lists } = take(text, { pieceSize });
  expect(lists.map(({ depth }) => depth)).toEqual([4]);
});

test("long lists and the rest together are the whole for any piece boundaries", () => {
  fc.assert(
    fc.property(message, tricky, fc.integer({ min: 30_000, max: 200_000 }), (value, unit, pieceSize) => {
      const long = members(9_000, (at) => [unit, at, "0123456789"]);
      const given = { ...value, members: long, after: [...value.after, { members: long.slice(0, 6_000) }] };
      const text = JSON.stringify(given);
      const taken = take(text, { pieceSize, restMax: text.length });
      expect(whole(taken)).toEqual(JSON.parse(text));
      expect(taken.lists.map(({ depth }) => depth)).toEqual([1, 3]);
      for (const { text: slice, count, at } of taken.slices) {
        expect([count, text.slice(at, at + slice.length)]).toEqual([0, slice]);
      }
    }),
    { numRuns: 10 },
  );
});

test.each([-2, -1, 0, 1])(
  "a list is extracted if it has more than a slice, tested at the limit %i",
  (more) => {
    const first = "x".repeat(40_000);
    const second = "x".repeat(SLICE_CHARACTERS + more - first.length - '"","",'.length + ",".length);
    const elements = [first, second, "last"];
    const { lists } = take(JSON.stringify({ members: elements }), { restMax: 2 * SLICE_CHARACTERS });
    expect(lists.map((list) => list.elements)).toEqual(more < 0 ? [] : [elements]);
  },
);

const long = JSON.stringify(members(6_000)).slice(1, -1);

describe("a list that is malformed", () => {
  test.each([
    ["has no end", `{"members":[${long}`],
    ["has no end, in a string", `{"members":[${long},"`],
    ["has no end, and is short", `{"members":[1,2`],
    ["ends as an object", `{"members":[${long}}}`],
    ["ends as an object, and is short", `{"members":[1}}`],
    ["ends as an object and then as a list", `{"members":[1}]}`],
  ])("is refused if it %s", (_what, text) => {
    expect(problemOf(() => take(text, { pieceSize: 70_000 }))).toBe("end");
  });

  test.each([
    ["without an element", "[,1]", -1],
    ["with a comma at its end", "[1,]", 1],
    ["without a comma", "[1 1]", undefined],
  ])("yields a slice %s that cannot be parsed, or has another number of elements", (_what, list, _more) => {
    const inner = list.slice(1, -1);
    const lists = new LongLists({ isWanted: () => true, restMax: REST_MAX, errorOf: () => new Error("no") });
    const slices = [...lists.add(`{"members":[${long},${inner}]}`)];
    const isSound = slices.every(({ text, count }) => {
      try {
        return JSON.parse(`[${text}]`).length === count;
      } catch {
        return false;
      }
    });
    expect(isSound).toBe(false);
  });

  test("counts one element in a slice of white space, which has no text", () => {
    const lists = new LongLists({ isWanted: () => true, restMax: REST_MAX, errorOf: () => new Error("no") });
    const [slice] = lists.add(`{"members":[${" ".repeat(PART_CHARACTERS_MAX)},1]}`);
    expect([slice?.count, slice?.text.trim()]).toEqual([1, ""]);
  });
});

describe("limits", () => {
  const part = (more: number) => "x".repeat(PART_CHARACTERS_MAX + more);
  const QUOTES = 2;

  test.each([
    ["an element", (more: number) => `{"members":["${part(more - QUOTES)}",${long}]}`],
    ["a last element", (more: number) => `{"members":[${long},"${part(more - QUOTES)}"]}`],
    ["the element of a short list", (more: number) => `{"members":["${part(more - QUOTES)}"]}`],
    [
      "a nested element",
      (more: number) => `{"members":[${long},[[${" ".repeat(PART_CHARACTERS_MAX + more - 4)}]],1]}`,
    ],
    ["a text outside of the lists", (more: number) => `{"a":"${part(more)}"}`],
    ["a name", (more: number) => `{"${part(more)}":1}`],
  ])("limits the characters of %s", (_what, textWith) => {
    for (const pieceSize of [50_000, 1_000_000]) {
      const problems = [-1, 0, 1].map((more) => problemOf(() => take(textWith(more), { pieceSize })));
      expect(problems).toEqual([undefined, undefined, "part"]);
    }
  });

  test("limits an element that never ends, before all of it has arrived", () => {
    const lists = new LongLists({
      isWanted: () => true,
      restMax: REST_MAX,
      errorOf: (problem) => new Refused(problem),
    });
    expect(problemOf(() => [...lists.add(`{"members":[[${"1,".repeat(PART_CHARACTERS_MAX / 2)}`)])).toBe(
      "part",
    );
  });

  test.each([1_000, 100_000, 1_000_000])(
    "limits the characters outside of the long lists, in pieces of %i",
    (pieceSize) => {
      const list = `"members":[${long}]`;
      const rest = `{"a":[${"1,".repeat(REST_MAX / 2 - 100)}1],`;
      const textWith = (more: number) => {
        const frame = rest.length + '"b":"",'.length + '"members":}'.length;
        return `${rest}"b":"${"x".repeat(REST_MAX + more - frame)}",${list}}`;
      };
      const problems = [-1, 0, 1].map((more) => problemOf(() => take(textWith(more), { pieceSize })));
      expect(problems).toEqual([undefined, undefined, "rest"]);
    },
  );

  test.each([
    [-1, undefined],
    [0, undefined],
    [1, "rest"],
  ] as const)("limits the text before an endless list, with %i more characters", (more, problem) => {
    const lists = new LongLists({
      isWanted: () => true,
      restMax: REST_MAX,
      errorOf: (found) => new Refused(found),
    });
    const name = ',"members":';
    const text = `{"a":"x"${" ".repeat(REST_MAX + more - '{"a":"x"'.length - name.length)}${name}[1,`;
    expect(problemOf(() => [...lists.add(text)])).toBe(problem);
  });

  test("limits a text that never ends, before all of it has arrived", () => {
    const lists = new LongLists({
      isWanted: () => true,
      restMax: REST_MAX,
      errorOf: (problem) => new Refused(problem),
    });
    const pieces = Array.from({ length: 10 }, () => " ".repeat(REST_MAX / 4));
    const arrived = pieces.findIndex((piece) => problemOf(() => [...lists.add(piece)]) === "rest");
    expect(arrived).toBe(4);
  });

  test.each([
    [-1, undefined],
    [0, undefined],
    [1, "rest"],
  ] as const)("limits a text whose end has not arrived, with %i more characters", (more, problem) => {
    const lists = new LongLists({
      isWanted: () => true,
      restMax: REST_MAX,
      errorOf: (found) => new Refused(found),
    });
    const begun = `[${"1,".repeat(REST_MAX / 2 - 100)}"`;
    const text = begun + "x".repeat(REST_MAX + more - begun.length);
    expect(problemOf(() => [...lists.add(text)])).toBe(problem);
  });
});

test("only the value of a requested name is extracted", () => {
  const texts = [
    `{"other":[${long}]}`,
    `["members",[${long}]]`,
    `{"a":"members","b":[${long}]}`,
    `{"members":{"x":[${long}]}}`,
    `{"members":1,"b":[${long}]}`,
  ];
  for (const text of texts) expect(take(text).rest).toBe(text);
  for (const text of [`{"members" : [${long}]}`, `{"a":{"members":\n[${long}]}}`])
    expect(take(text).lists).toHaveLength(1);
});

test("the text before a list is known with its first slice", () => {
  const lists = new LongLists({ isWanted: () => true, restMax: REST_MAX, errorOf: () => new Error("no") });
  expect([...lists.add('{"op":"add",')]).toEqual([]);
  const seen: string[] = [];
  for (const { list } of lists.add(`"value":[${long}],"after":[${long}]}`))
    if (seen.length <= list) seen.push(lists.rest());
  const [first, second] = [0, 1].map((list) => `"${lists.placeholder}${list}"`);
  expect(seen).toEqual([`{"op":"add","value":${first}`, `{"op":"add","value":${first},"after":${second}`]);
  expect(lists.end()).toBe(`{"op":"add","value":${first},"after":${second}}`);
});
