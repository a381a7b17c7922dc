// Every rule of a package list: one row that passes, one that fails, and each limit at, below and above.

import { describe, expect, test } from "bun:test";
import { FormatRegistry } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import * as limits from "../../../../src/domain/catalog/model.ts";
import { ADAPTERS_MAX } from "../../../../src/domain/catalog/packages/layouts.ts";
import { checkPackages } from "../../../../src/domain/catalog/packages/package-rules.ts";
import {
  FREE_FORM_OBJECT_BYTES_MAX,
  FREE_FORM_OBJECT_DEPTH_MAX,
} from "../../../../src/domain/shared/free-form-object.ts";
import { UUID_PATTERN } from "../../../../src/platform/ids.ts";
import { KEY_CHARACTERS_MAX } from "../../../../src/platform/text/object-reader.ts";
import { PROBLEMS_MAX } from "../../../../src/platform/text/problem-list.ts";

const DIGEST = "ab".repeat(32);
const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
type Json = Record<string, unknown>;

const valid = (members: Json = {}): Json => ({
  id: "one",
  version: "1",
  source_ref: "one.tar.gz",
  sha256: DIGEST,
  ...members,
});
const adapted = (adapter: unknown, harness = "codex"): Json => valid({ adapters: { [harness]: adapter } });
const pointersOf = (input: unknown): string[] => checkPackages(input).problems.map(({ pointer }) => pointer);
const detailOf = (input: unknown): string => checkPackages(input).problems[0]?.detail ?? "";
const entries = (count: number, value: unknown): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
const nested = (levels: number): Json => (levels === 1 ? {} : { a: nested(levels - 1) });
const source = { source_ref: "one.tar.gz", sha256: DIGEST };

describe("valid members", () => {
  const rows: [string, Json][] = [
    ["only the required members", valid()],
    ["an id of every allowed character", valid({ id: "az-09" })],
    ["a version that is not SemVer", valid({ version: "spring release" })],
    ["a digest in upper case", valid({ sha256: DIGEST.toUpperCase() })],
    ["an https source", valid({ source_ref: "https://packages.example.com/one.tar.gz" })],
    ["a file source", valid({ source_ref: "file:///srv/one.tar.gz" })],
    ["any source with an artifact", valid({ source_ref: "git+ssh://x", artifact_id: UUID })],
    ["an empty source with an artifact", valid({ source_ref: "", artifact_id: UUID })],
    ["null where a text may be absent", valid({ name: null, artifact_id: null })],
    ["a platform with an underscore", valid({ platform_sources: { "linux-x86_64": source } })],
    ["an adapter with nothing in it", adapted({})],
    ["every path of a normal form", adapted({ plugin_dir: "./a/./b/", hooks_file: "a//b", agents_dir: "." })],
    ["only hooks for claude, whose middle generation accepts them", adapted({ hooks_file: "h" }, "claude")],
    ["everything for kimi", adapted({ agents_dir: "a", hooks_file: "h", plugins: ["p"] }, "kimi")],
    ["plugin modules for opencode", adapted({ agents_dir: "a", plugins: ["p.ts"] }, "opencode")],
    ["a helper with a default path", adapted({ helpers: { "my.tool": { paths: { default: "bin/t" } } } })],
    ["a helper without paths", adapted({ helpers: { tool: {} } })],
    ["an availability with pre-releases", adapted({ introduced: "1.0.0-rc.1", before: "1.0.0" })],
    ["settings of every JSON kind", valid({ settings: { a: null, b: [1, "x", { c: true }] } })],
  ];
  test.each(rows)("%s", (_name, input) => {
    expect(checkPackages([input]).problems).toEqual([]);
  });
});

describe("names invalid members by their pointer", () => {
  const long = "1.0.0-".padEnd(300, "a");
  const rows: [string, unknown, string[]][] = [
    ["no object", "one", ["/0"]],
    ["null", null, ["/0"]],
    ["an unknown member", valid({ sha265: DIGEST }), ["/0/sha265"]],
    ["an unknown member that needs escaping", valid({ "a/b~c": 1 }), ["/0/a~1b~0c"]],
    ["everything missing", {}, ["/0/id", "/0/version", "/0/sha256", "/0/source_ref"]],
    ["an empty id", valid({ id: "" }), ["/0/id"]],
    ["an id in upper case", valid({ id: "One" }), ["/0/id"]],
    ["an id that ends in a newline", valid({ id: "one\n" }), ["/0/id"]],
    ["a blank version", valid({ version: "  " }), ["/0/version"]],
    ["a version that is a number", valid({ version: 1.2 }), ["/0/version"]],
    ["a name that is a list", valid({ name: [] }), ["/0/name"]],
    ["a name with an escape sequence for terminals", valid({ name: "\u001b[2J" }), ["/0/name"]],
    ["a digest that is too short", valid({ sha256: DIGEST.slice(1) }), ["/0/sha256"]],
    ["a digest with a prefix", valid({ sha256: `sha256:${DIGEST}` }), ["/0/sha256"]],
    ["a source without encryption", valid({ source_ref: "http://example.com/a" }), ["/0/source_ref"]],
    ["a scheme in upper case", valid({ source_ref: "HTTPS://example.com/a" }), ["/0/source_ref"]],
    ["an https source without a host", valid({ source_ref: "https://" }), ["/0/source_ref"]],
    ["a blank source", valid({ source_ref: " " }), ["/0/source_ref"]],
    ["an artifact that is not a UUID", valid({ artifact_id: "x" }), ["/0/artifact_id"]],
    ["platforms as a list", valid({ platform_sources: [] }), ["/0/platform_sources"]],
    [
      "a platform in upper case",
      valid({ platform_sources: { Linux: source } }),
      ["/0/platform_sources/Linux"],
    ],
    ["a platform without a name", valid({ platform_sources: { "": source } }), ["/0/platform_sources"]],
    [
      "a platform source with every problem",
      valid({ platform_sources: { linux: { source_ref: "ftp://x", sha256: "x", size: 1 } } }),
      [
        "/0/platform_sources/linux/size",
        "/0/platform_sources/linux/sha256",
        "/0/platform_sources/linux/source_ref",
      ],
    ],
    ["settings that are null", valid({ settings: null }), ["/0/settings"]],
    ["settings that JSON cannot represent", valid({ settings: { a: [Number.NaN] } }), ["/0/settings/a/0"]],
    ["a harness that does not exist", adapted({}, "vim"), ["/0/adapters/vim"]],
    ["an alias of a harness", adapted({}, "claude-code"), ["/0/adapters/claude-code"]],
    ["an adapter that is null", adapted(null), ["/0/adapters/codex"]],
    ["an unknown member of an adapter", adapted({ plugin: "a" }), ["/0/adapters/codex/plugin"]],
    ["a start that is not a version", adapted({ introduced: "1.2" }), ["/0/adapters/codex/introduced"]],
    ["a start with a leading v", adapted({ introduced: "v1.2.3" }), ["/0/adapters/codex/introduced"]],
    ["a start with a blank", adapted({ introduced: " 1.2.3" }), ["/0/adapters/codex/introduced"]],
    ["a start that is too long", adapted({ introduced: long }), ["/0/adapters/codex/introduced"]],
    [
      "an end that is the start",
      adapted({ introduced: "1.0.0", before: "1.0.0" }),
      ["/0/adapters/codex/before"],
    ],
    ["an end before the default start", adapted({ before: "0.0.0" }), ["/0/adapters/codex/before"]],
    [
      "an end that differs by build only",
      adapted({ introduced: "1.0.0", before: "1.0.0+b" }),
      ["/0/adapters/codex/before"],
    ],
    ["agents without a plugin for codex", adapted({ agents_dir: "a" }), ["/0/adapters/codex"]],
    ["hooks without a plugin for codex", adapted({ hooks_file: "a" }), ["/0/adapters/codex"]],
    ["agents without a plugin for claude", adapted({ agents_dir: "a" }, "claude"), ["/0/adapters/claude"]],
    [
      "hooks with skills for claude",
      adapted({ hooks_file: "h", skills_dir: "s" }, "claude"),
      ["/0/adapters/claude"],
    ],
    ["hooks as a file for opencode", adapted({ hooks_file: "h" }, "opencode"), ["/0/adapters/opencode"]],
    ["an absolute path", adapted({ plugin_dir: "/a" }), ["/0/adapters/codex/plugin_dir"]],
    ["a path that leads out", adapted({ plugin_dir: "a/../../b" }), ["/0/adapters/codex/plugin_dir"]],
    ["a path with a drive", adapted({ plugin_dir: "c:a" }), ["/0/adapters/codex/plugin_dir"]],
    ["a path with backslashes", adapted({ skills_dir: "..\\a" }), ["/0/adapters/codex/skills_dir"]],
    ["an empty path", adapted({ skills_dir: "" }), ["/0/adapters/codex/skills_dir"]],
    ["a plugin module that leads out", adapted({ plugins: ["a", ".."] }), ["/0/adapters/codex/plugins/1"]],
    [
      "a helper path that leads out",
      adapted({ helpers: { t: { paths: { default: "../t" } } } }),
      ["/0/adapters/codex/helpers/t/paths/default"],
    ],
    ["a helper named as a path", adapted({ helpers: { "../t": {} } }), ["/0/adapters/codex/helpers/..~1t"]],
    ["a helper that is a text", adapted({ helpers: { t: "bin/t" } }), ["/0/adapters/codex/helpers/t"]],
  ];
  test.each(rows)("%s", (_name, input, expected) => {
    expect(pointersOf([input])).toEqual(expected);
  });

  test("refuses a reserved key wherever a map is open", () => {
    const text = JSON.stringify(
      valid({
        platform_sources: { K: 1 },
        settings: { a: { K: 1 } },
        adapters: { kimi: { helpers: { K: {} } } },
      }),
    );
    expect(pointersOf([JSON.parse(text.replaceAll('"K"', '"__proto__"'))])).toEqual([
      "/0/platform_sources/__proto__",
      "/0/settings/a/__proto__",
      "/0/adapters/kimi/helpers/__proto__",
    ]);
  });
});

test.each([ADAPTERS_MAX - 1, ADAPTERS_MAX])("%d adapters are each checked by themselves", (count) => {
  expect(pointersOf([valid({ adapters: entries(count, {}) })])).toHaveLength(count);
});

test("one adapter above the limit is refused without checking any", () => {
  expect(pointersOf([valid({ adapters: entries(ADAPTERS_MAX + 1, {}) })])).toEqual(["/0/adapters"]);
});

describe("variants", () => {
  const X = (introduced: string, before?: string): Json => ({ introduced, ...(before ? { before } : {}) });
  const at = "/0/adapters/codex/variants";
  const rows: [string, Json, string[]][] = [
    ["that cover everything", { variants: [X("0.0.0", "1.0.0"), X("1.0.0")] }, []],
    [
      "that cover a bounded availability",
      { introduced: "1.0.0", before: "2.0.0", variants: [X("1.0.0", "2.0.0")] },
      [],
    ],
    [
      "with gaps and a fallback",
      { plugin_dir: "p", variants: [X("1.0.0", "2.0.0"), X("3.0.0", "4.0.0")] },
      [],
    ],
    [
      "with a gap at a pre-release",
      { variants: [X("0.0.0", "1.0.0-rc.1"), X("1.0.0")] },
      [`${at}/1/introduced`],
    ],
    ["with a gap although plugins is empty", { plugins: [], variants: [X("1.0.0")] }, [`${at}/0/introduced`]],
    ["with a gap at the start", { variants: [X("1.0.0")] }, [`${at}/0/introduced`]],
    ["with a gap at the end", { variants: [X("0.0.0", "1.0.0")] }, [`${at}/0/before`]],
    [
      "with a gap before a bounded end",
      { before: "2.0.0", variants: [X("0.0.0", "1.0.0")] },
      [`${at}/0/before`],
    ],
    ["without a start", { plugin_dir: "p", variants: [{ before: "1.0.0" }] }, [`${at}/0/introduced`]],
    ["the wrong way round", { plugin_dir: "p", variants: [X("2.0.0", "1.0.0")] }, [`${at}/0/before`]],
    [
      "earlier than the adapter",
      { introduced: "1.0.0", plugin_dir: "p", variants: [X("0.9.0")] },
      [`${at}/0/introduced`],
    ],
    [
      "later than the adapter",
      { before: "1.0.0", plugin_dir: "p", variants: [X("0.1.0", "1.0.1")] },
      [`${at}/0/before`],
    ],
    [
      "open-ended in a bounded adapter",
      { before: "1.0.0", plugin_dir: "p", variants: [X("0.1.0")] },
      [`${at}/0`],
    ],
    ["that overlap", { plugin_dir: "p", variants: [X("1.0.0", "3.0.0"), X("2.0.0", "4.0.0")] }, [`${at}/1`]],
    [
      "in the wrong order",
      { plugin_dir: "p", variants: [X("2.0.0"), X("1.0.0", "2.0.0")] },
      [`${at}/1/introduced`],
    ],
    [
      "that are equal",
      { plugin_dir: "p", variants: [X("1.0.0"), X("1.0.0")] },
      [`${at}/1`, `${at}/1/introduced`],
    ],
    [
      "with components the harness refuses",
      { plugin_dir: "p", variants: [{ ...X("1.0.0"), agents_dir: "a" }] },
      [`${at}/0`],
    ],
    [
      "with their own variants",
      { plugin_dir: "p", variants: [{ ...X("1.0.0"), variants: [] }] },
      [`${at}/0/variants`],
    ],
  ];
  test.each(rows)("%s", (_name, adapter, expected) => {
    expect(pointersOf([adapted(adapter)])).toEqual(expected);
  });

  const requirement = (text: unknown, more: Json = {}): unknown =>
    adapted({ plugin_dir: "p", variants: [{ version_requirement: text, ...more }] });

  test.each([
    [">=1.0.0", { introduced: "1.0.0" }],
    [">=1.0.0, <2.0.0", { introduced: "1.0.0", before: "2.0.0" }],
    [" >= 1.0.0,<2.0.0-rc.1 ", { introduced: "1.0.0", before: "2.0.0-rc.1" }],
  ])("the older spelling %p becomes an interval", (text, bounds) => {
    const [checked] = checkPackages([requirement(text)]).packages;
    expect(checked?.adapters.codex?.variants).toEqual([{ ...bounds, plugins: [], helpers: {} }]);
  });

  test.each(["^1.0.0", ">1.0.0", ">=1.0", ">=1.0.0, <=2.0.0", "<2.0.0", ">=2.0.0, <1.0.0", "*", "", 1])(
    "the older spelling %p is refused",
    (text) => {
      expect(pointersOf([requirement(text)])).toEqual([`${at}/0/version_requirement`]);
    },
  );

  test.each([{ introduced: "1.0.0" }, { before: "2.0.0" }])(
    "the older spelling is refused together with %p",
    (more) => {
      expect(pointersOf([requirement(">=1.0.0", more)])).toEqual([`${at}/0/version_requirement`]);
    },
  );
});

describe("random variants agree with sets of whole versions", () => {
  const END = 7;
  // A fixed linear congruential sequence: the same cases on every run.
  let seed = 20_260_301;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const chance = (percent: number): boolean => random(100) < percent;
  interface Span {
    from: number;
    to: number | undefined;
  }
  const span = (): Span => {
    const from = random(END);
    return { from, to: chance(30) ? undefined : from + 1 + random(END - from) };
  };
  const partition = (): Span[] => {
    const cuts = Array.from({ length: END }, (_, index) => index).filter(
      (index) => index === 0 || chance(40),
    );
    return cuts.map((from, index) => ({ from, to: cuts[index + 1] }));
  };
  const written = ({ from, to }: Span): Json => ({
    introduced: `${from}.0.0`,
    ...(to === undefined ? {} : { before: `${to}.0.0` }),
  });
  // The point END means every version from there on, which only open-ended spans include.
  const pointsOf = ({ from, to }: Span): number[] =>
    Array.from({ length: END + 1 }, (_, point) => point).filter(
      (point) => point >= from && point < (to ?? END + 1),
    );

  const isAllowed = (adapter: Span, variants: Span[], hasFallback: boolean): boolean => {
    const points = variants.flatMap(pointsOf);
    const available = pointsOf(adapter);
    const inside = points.every((point) => available.includes(point));
    const disjoint = new Set(points).size === points.length;
    const ascending = variants.every(
      ({ from }, index) => index === 0 || from > (variants[index - 1]?.from ?? 0),
    );
    const covered =
      hasFallback || variants.length === 0 || available.every((point) => points.includes(point));
    return inside && disjoint && ascending && covered;
  };

  test("agrees over 4,000 cases, many of them valid and many invalid", () => {
    const verdicts = { right: 0, wrong: 0 };
    for (let round = 0; round < 4_000; round += 1) {
      const adapter = chance(50) ? { from: 0, to: undefined } : span();
      const spans = chance(50) ? partition() : Array.from({ length: random(4) }, span);
      const variants = chance(20) ? spans.filter(() => chance(80)) : spans;
      const hasFallback = chance(40);
      const input = {
        ...written(adapter),
        ...(hasFallback ? { skills_dir: "s" } : {}),
        variants: variants.map(written),
      };
      const expected = isAllowed(adapter, variants, hasFallback);
      verdicts[expected ? "right" : "wrong"] += 1;
      expect({ input, right: pointersOf([adapted(input)]).length === 0 }).toEqual({ input, right: expected });
    }
    expect(Math.min(verdicts.right, verdicts.wrong)).toBeGreaterThan(500);
  });
});

describe("limits", () => {
  const path = (length: number): string => "a".repeat(length);
  const spread = (count: number): Json[] =>
    Array.from({ length: count }, (_, index) => ({ introduced: `${index}.0.0`, before: `${index + 1}.0.0` }));
  const settings = (bytes: number): Json => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
  const rows: [string, number, (count: number) => Json][] = [
    ["characters of an id", limits.ID_CHARACTERS_MAX, (count) => valid({ id: path(count) })],
    ["characters of a name", limits.LABEL_CHARACTERS_MAX, (count) => valid({ name: path(count) })],
    ["characters of a version", limits.LABEL_CHARACTERS_MAX, (count) => valid({ version: path(count) })],
    [
      "characters of a source",
      limits.SOURCE_REF_CHARACTERS_MAX,
      (count) => valid({ source_ref: path(count) }),
    ],
    ["bytes of a path", limits.PATH_BYTES_MAX, (count) => adapted({ plugin_dir: path(count) })],
    [
      "bytes of a path in two-byte letters",
      limits.PATH_BYTES_MAX / 2,
      (count) => adapted({ plugin_dir: "é".repeat(count) }),
    ],
    [
      "components of a path",
      limits.PATH_COMPONENTS_MAX,
      (count) => adapted({ plugin_dir: Array(count).fill("a").join("/") }),
    ],
    ["characters of a key", KEY_CHARACTERS_MAX, (count) => adapted({ helpers: { [path(count)]: {} } })],
    [
      "platform sources",
      limits.PLATFORMS_MAX,
      (count) => valid({ platform_sources: entries(count, source) }),
    ],
    [
      "paths of a helper",
      limits.PLATFORMS_MAX,
      (count) => adapted({ helpers: { t: { paths: entries(count, "a") } } }),
    ],
    ["variants", limits.VARIANTS_MAX, (count) => adapted({ plugin_dir: "p", variants: spread(count) })],
    ["plugin modules", limits.PLUGINS_MAX, (count) => adapted({ plugins: Array(count).fill("a") })],
    ["helpers", limits.HELPERS_MAX, (count) => adapted({ helpers: entries(count, {}) })],
    ["bytes of settings", FREE_FORM_OBJECT_BYTES_MAX, (bytes) => valid({ settings: settings(bytes) })],
    ["levels of settings", FREE_FORM_OBJECT_DEPTH_MAX, (levels) => valid({ settings: nested(levels) })],
  ];
  test.each(rows)("%s: below and at pass, above is one problem", (_name, limit, build) => {
    expect([limit - 1, limit, limit + 1].map((count) => pointersOf([build(count)]).length)).toEqual([
      0, 0, 1,
    ]);
  });

  const many = (count: number): Json[] =>
    Array.from({ length: count }, (_, index) => valid({ id: `p-${index}` }));

  test("packages: accepts below and at, reports one problem with limit and count far above", () => {
    expect(
      [limits.PACKAGES_MAX - 1, limits.PACKAGES_MAX].map((count) => pointersOf(many(count)).length),
    ).toEqual([0, 0]);
    const { problems } = checkPackages(many(10_000));
    expect(problems).toEqual([{ pointer: "", detail: "holds 10000 packages; the limit is 5000" }]);
    expect(pointersOf(many(limits.PACKAGES_MAX + 1))).toEqual([""]);
  });

  test("problems: lists all up to the limit, above it a last line counts the rest", () => {
    const wrong = (count: number) => checkPackages(many(count).map((one) => ({ ...one, version: "" })));
    expect(wrong(PROBLEMS_MAX - 1).problems).toHaveLength(PROBLEMS_MAX - 1);
    expect(wrong(PROBLEMS_MAX).problems.at(-1)?.pointer).toBe(`/${PROBLEMS_MAX - 1}/version`);
    const above = wrong(PROBLEMS_MAX + 7);
    expect(above.problems).toHaveLength(PROBLEMS_MAX + 1);
    expect(above.problems.at(-1)?.detail).toBe("and 7 more");
    expect(above.problemCount).toBe(PROBLEMS_MAX + 7);
  });

  test("endless nesting of settings is one problem, not a crash", () => {
    let deep: Json = {};
    for (let level = 0; level < 200_000; level += 1) deep = { a: deep };
    expect(pointersOf([valid({ settings: deep })])).toHaveLength(1);
  });

  test("checks the largest list completely", () => {
    const variants = [{ introduced: "0.0.0", before: "1.0.0" }, { introduced: "1.0.0" }];
    const full = many(limits.PACKAGES_MAX).map((one) => ({
      ...one,
      settings: { level: 3 },
      platform_sources: { "linux-x86_64": source, "linux-aarch64": source },
      adapters: {
        codex: { variants },
        kimi: { skills_dir: "s" },
        opencode: { helpers: { t: { paths: { default: "b" } } } },
      },
    }));
    expect(checkPackages(full).packages).toHaveLength(limits.PACKAGES_MAX);
  });
});

describe("the list as a whole", () => {
  test.each([[{}], ["packages"], [null], [undefined], [3]])("%p is not a list", (input) => {
    expect(pointersOf(input)).toEqual([""]);
  });

  test("an empty list is valid", () => {
    expect(checkPackages([])).toEqual({ packages: [], problems: [], problemCount: 0 });
  });

  test("an id used twice names the first place, also at the third", () => {
    const { problems } = checkPackages([valid({ id: "zero" }), valid(), valid(), valid()]);
    expect(problems.map(({ pointer }) => pointer)).toEqual(["/2/id", "/3/id"]);
    for (const { detail } of problems) expect(detail).toContain("/1");
  });

  test("reports all problems of all packages together, in the order of the rules", () => {
    const broken = {
      id: "A",
      version: "",
      sha256: "x",
      source_ref: "ftp://x",
      adapters: { vim: {}, codex: { before: "x" } },
    };
    expect(pointersOf([broken, valid(), { ...broken, id: "B" }])).toEqual([
      ...["/0/id", "/0/version", "/0/sha256", "/0/source_ref", "/0/adapters/vim", "/0/adapters/codex/before"],
      ...["/2/id", "/2/version", "/2/sha256", "/2/source_ref", "/2/adapters/vim", "/2/adapters/codex/before"],
    ]);
  });

  test("returns valid packages in their order, even if others have problems", () => {
    const { packages } = checkPackages([valid({ id: "z" }), {}, valid({ id: "a" })]);
    expect(packages.map(({ id }) => id)).toEqual(["z", "a"]);
  });
});

describe("messages name the valid form", () => {
  const rows: [string, unknown, string][] = [
    ["a misspelt member", valid({ adpters: {} }), "did you mean adapters?"],
    ["a member like no other", valid({ "completely-different": 1 }), "allowed here are id, name"],
    [
      "a version read as a number",
      valid({ version: 1.2 }),
      "must be a text, not a number; write it in quotes",
    ],
    ["a list instead of an object", valid({ settings: [] }), "must be an object, not a list"],
    ["an alias", adapted({}, "claude-code"), "write claude"],
    ["a refused component", adapted({ agents_dir: "a" }), "agents_dir also needs plugin_dir"],
    ["hooks as a file", adapted({ hooks_file: "h" }, "opencode"), "no version of OpenCode accepts"],
  ];
  test.each(rows)("%s", (_name, input, expected) => {
    expect(detailOf([input])).toContain(expected);
  });

  test("never repeat a source, because it may contain credentials", () => {
    expect(detailOf([valid({ source_ref: "http://user:hunter2@example.com" })])).not.toContain("hunter2");
  });
});

describe("the shape of the response", () => {
  test("contains defaults and nothing else", () => {
    const variants = [{ introduced: "2.0.12", plugin_dir: "p" }];
    const input = valid({
      sha256: DIGEST.toUpperCase(),
      name: null,
      platform_sources: {},
      adapters: { kimi: { variants: [] }, claude: { introduced: "2.0.12", variants } },
    });
    expect(checkPackages([input]).packages).toEqual([
      {
        id: "one",
        version: "1",
        source_ref: "one.tar.gz",
        sha256: DIGEST,
        settings: {},
        adapters: {
          kimi: { plugins: [], helpers: {} },
          claude: {
            introduced: "2.0.12",
            plugins: [],
            helpers: {},
            variants: [{ introduced: "2.0.12", plugin_dir: "p", plugins: [], helpers: {} }],
          },
        },
      },
    ]);
  });

  test("keeps set values, with identifiers folded to lower case", () => {
    const upper = { source_ref: "x", artifact_id: UUID.toUpperCase(), sha256: DIGEST.toUpperCase() };
    const lower = { source_ref: "x", artifact_id: UUID, sha256: DIGEST };
    const input = valid({ ...upper, name: "One", settings: { A: 1 }, platform_sources: { linux: upper } });
    const [checked] = checkPackages([input]).packages;
    expect(checked).toEqual({
      id: "one",
      version: "1",
      ...lower,
      name: "One",
      settings: { A: 1 },
      platform_sources: { linux: lower },
      adapters: {},
    });
  });

  test("satisfies the published schema and passes the rules again unchanged", () => {
    if (!FormatRegistry.Has("uuid")) FormatRegistry.Set("uuid", (text) => UUID_PATTERN.test(text));
    const input = valid({
      artifact_id: UUID,
      adapters: { codex: { before: "1.0.0", helpers: { t: {} } }, kimi: {} },
    });
    const { packages } = checkPackages([input]);
    expect(packages.map((one) => [...Value.Errors(limits.ManagedPackage, one)])).toEqual([[]]);
    expect(checkPackages(packages).packages).toEqual(packages);
  });
});
