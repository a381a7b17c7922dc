// Packages against the versions that a policy allows: named cases, and random packages checked a second time by trying the
// candidate versions of candidatesOf() one after another.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compare, parse, type SemVer } from "semver";
import { componentsOf, type ManagedPackage } from "../../../../src/domain/catalog/service.ts";
import { checkDocument } from "../../../../src/domain/governance/document/check.ts";
import { readDraft } from "../../../../src/domain/governance/document/draft.ts";
import { finalizeDocument } from "../../../../src/domain/governance/publishing/finalize.ts";
import { checkRanges } from "../../../../src/domain/governance/versions/coverage.ts";
import { layoutFor } from "../../../../src/domain/governance/versions/layout-selection.ts";
import { parseRequirement } from "../../../../src/domain/governance/versions/requirement.ts";
import {
  acceptsComponents,
  getHarness,
  HARNESSES,
  type HarnessKey,
} from "../../../../src/domain/harnesses/harnesses.ts";
import type { Problem } from "../../../../src/platform/errors.ts";
import { PROBLEMS_MAX } from "../../../../src/platform/text/problem-list.ts";
import {
  documentWith,
  type Json,
  packageWith,
  pointersOf,
  problemsOf,
  VERSION_AWARE,
} from "../document/document-builders.ts";

interface Setting {
  packages: Json[];
  /** of claude */
  requirement?: string;
  isOpen?: boolean;
  overrides?: Json;
  allowed?: HarnessKey[];
}

const claudeDocument = ({
  packages,
  requirement,
  isOpen,
  overrides = {},
  allowed = ["claude"],
}: Setting): Json =>
  documentWith({
    ...VERSION_AWARE,
    allowed_harnesses: allowed,
    harnesses: {
      claude: {
        ...(requirement === undefined ? {} : { version_requirement: requirement }),
        ...(isOpen ? { allow_unverified_versions: true } : {}),
        package_overrides: overrides,
      },
    },
    packages,
  });

const claude = (adapter: Json, id?: string): Json => packageWith({ claude: adapter }, id);
const plugin = { plugin_dir: "p" };
const helper = (name: string): Json => ({ helpers: { [name]: { paths: { default: "bin/h" } } } });
const PLACE = "/packages/0/adapters/claude";
const RANGE = "/harnesses/claude/version_requirement";

describe("one package", () => {
  const rows: [string, Setting, string[]][] = [
    [
      "a plugin without a range is refused, for older versions have none",
      { packages: [claude(plugin)] },
      [PLACE],
    ],
    [
      "a plugin is fine with a range that starts where plugins do",
      { packages: [claude(plugin)], requirement: ">=2.0.12" },
      [],
    ],
    [
      "a range that starts a version too early is refused",
      { packages: [claude(plugin)], requirement: ">=2.0.11" },
      [PLACE],
    ],
    ["helpers go everywhere", { packages: [claude(helper("h"))] }, []],
    [
      "disabling the package there lifts the check",
      { packages: [claude(plugin)], overrides: { one: { enabled: false } } },
      [],
    ],
    [
      "an override that does not disable it does not",
      { packages: [claude(plugin)], overrides: { one: {} } },
      [PLACE],
    ],
    ["a harness that is not allowed is not judged", { packages: [claude(plugin)], allowed: ["codex"] }, []],
    [
      "a start of availability needs a range within it",
      { packages: [claude({ introduced: "2.0.12", ...plugin })], requirement: ">=2.0.0" },
      [PLACE],
    ],
    [
      "an end of availability needs a range within it",
      { packages: [claude({ before: "2.1.0", ...plugin })], requirement: ">=2.0.12" },
      [PLACE],
    ],
    [
      "a range within both bounds is fine",
      {
        packages: [claude({ introduced: "2.0.12", before: "2.1.0", ...plugin })],
        requirement: ">=2.0.12, <2.1.0",
      },
      [],
    ],
    [
      "an end beyond the ceiling is never reached",
      { packages: [claude({ before: "2.1.253", ...plugin })], requirement: ">=2.0.12" },
      [],
    ],
    [
      "but it is once unverified versions are allowed",
      { packages: [claude({ before: "2.1.253", ...plugin })], requirement: ">=2.0.12", isOpen: true },
      [PLACE],
    ],
    [
      "a variant for new versions and helpers for the rest",
      { packages: [claude({ ...helper("h"), variants: [{ introduced: "2.0.12", ...plugin }] })] },
      [],
    ],
    [
      "a pre-release that the range names must be served, too",
      {
        packages: [claude({ introduced: "2.0.12", ...plugin })],
        requirement: ">=2.0.12-rc.1, <2.0.13",
        isOpen: true,
      },
      [PLACE],
    ],
    [
      "a package for another harness does not matter",
      { packages: [packageWith({ kimi: { introduced: "9.0.0" } })] },
      [],
    ],
    [
      "a range that no certified version satisfies",
      { packages: [claude(helper("h"))], requirement: ">=2.1.253" },
      [RANGE],
    ],
    ["an empty range", { packages: [], requirement: ">2.1, <2.1.5" }, [RANGE]],
    [
      "a range beyond the ceiling is fine when opted into",
      { packages: [claude(plugin)], requirement: ">=2.1.253", isOpen: true },
      [],
    ],
    [
      "a range of a harness that is not allowed may hold nothing",
      { packages: [], requirement: ">=99", allowed: [] },
      [],
    ],
  ];
  test.each(rows)("%s", (_name, setting, pointers) => {
    expect(pointersOf(claudeDocument(setting))).toEqual(pointers);
  });

  test("the problem names version, reason and a range that would work", () => {
    const [problem] = problemsOf(claudeDocument({ packages: [claude({ introduced: "2.0.0", ...plugin })] }));
    expect(problem?.detail).toContain("Claude 0.0.0 may run, but package one cannot serve it");
    expect(problem?.detail).toContain(">=2.0.12");
  });

  test("an override must name a package", () => {
    const setting = { packages: [claude(helper("h"))], overrides: { one: {}, "o/ther": {} } };
    expect(pointersOf(claudeDocument(setting))).toEqual(["/harnesses/claude/package_overrides/o~1ther"]);
  });

  test("a range without versions and without packages is checked separately, so that a start can only report it", () => {
    const { document } = readDraft(claudeDocument({ packages: [], requirement: ">=99" }));
    expect(checkDocument(document, { gateway: false, harnesses: HARNESSES })).toEqual([]);
    expect(checkRanges(document, HARNESSES).map(({ pointer }) => pointer)).toEqual([RANGE]);
  });
});

test("publishing reports a range without certified versions once, although packages are checked against it too", () => {
  const { document } = readDraft(
    claudeDocument({ packages: [claude(helper("h"))], requirement: ">=2.1.253" }),
  );
  const problems: Problem[] = [];
  const frame = { gateway: false, serverVersion: "1.0.0", revision: "r", extension: {} };
  finalizeDocument(document, { ...frame, base: undefined, problems });
  expect(problems.map(({ pointer }) => pointer)).toEqual([RANGE]);
});

describe("commands of several packages", () => {
  const rows: [string, Setting, string[]][] = [
    [
      "the same name twice is refused",
      { packages: [claude(helper("h")), claude(helper("h"), "two")] },
      ["/packages/1/adapters/claude"],
    ],
    ["different names are fine", { packages: [claude(helper("h")), claude(helper("i"), "two")] }, []],
    [
      "the same name for other versions is fine",
      {
        packages: [
          claude({ ...helper("h"), before: "2.1.0" }),
          claude({ ...helper("h"), introduced: "2.1.0" }, "two"),
        ],
        requirement: ">=2.0.12",
      },
      ["/packages/0/adapters/claude", "/packages/1/adapters/claude"],
    ],
    [
      "a name that only one variant has does not conflict there",
      {
        packages: [
          claude({ ...plugin, variants: [{ introduced: "2.1.0", ...helper("h") }] }),
          claude(helper("h"), "two"),
        ],
        requirement: ">=2.0.12, <2.1.0",
      },
      [],
    ],
    [
      "it meets the other where the variant begins",
      {
        packages: [
          claude({ ...plugin, variants: [{ introduced: "2.1.0", ...helper("h") }] }),
          claude(helper("h"), "two"),
        ],
        requirement: ">=2.0.12",
      },
      ["/packages/0/adapters/claude"],
    ],
    [
      "a disabled package is not met",
      { packages: [claude(helper("h")), claude(helper("h"), "two")], overrides: { two: { enabled: false } } },
      [],
    ],
    [
      "a name that is also one of every object is a name like others",
      { packages: [claude(helper("constructor"))] },
      [],
    ],
  ];
  test.each(rows)("%s", (_name, setting, pointers) => {
    expect(pointersOf(claudeDocument(setting))).toEqual(pointers);
  });
});

test("the maximum number of packages, all with one command, are checked in order of their versions", () => {
  const count = 5_000;
  const packages = Array.from({ length: count }, (_, index) =>
    claude({ ...helper("h"), introduced: `2.${index}.0`, before: `2.${index + 1}.0` }, `p${index}`),
  );
  const { document, problems } = readDraft(
    claudeDocument({ packages, requirement: ">=2.0.12", isOpen: true }),
  );
  expect(problems).toEqual([]);
  // None supports every version, and none overlaps with another.
  expect(checkDocument(document, { gateway: false, harnesses: HARNESSES }).at(-1)?.detail).toBe(
    `and ${count - PROBLEMS_MAX} more`,
  );
});

describe("random packages", () => {
  const versions = [
    "0.0.0",
    "1.0.38-rc.1",
    "1.0.38",
    "1.5.0",
    "2.0.12-rc.1",
    "2.0.12",
    "2.0.13",
    "2.1.0",
    "2.1.253",
    "3.0.0",
  ];
  const layout = fc.constantFrom<Json>(
    {},
    plugin,
    helper("h"),
    helper("i"),
    { hooks_file: "h.json" },
    { ...plugin, ...helper("h") },
  );
  const adapter = fc
    .tuple(
      fc.subarray(versions, { minLength: 1, maxLength: 5 }),
      fc.array(layout, { minLength: 5, maxLength: 5 }),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([bounds, layouts, isOpenEnded, isFirstFallback]): Json => {
      const [introduced, ...rest] = bounds;
      const ends = isOpenEnded ? rest : rest.slice(0, -1);
      const variants = ends.map((start, index) => {
        const before = ends[index + 1] ?? (isOpenEnded ? undefined : rest.at(-1));
        return { introduced: start, ...(before === undefined ? {} : { before }), ...layouts[index] };
      });
      const end = isOpenEnded ? undefined : rest.at(-1);
      return {
        introduced,
        ...(end === undefined ? {} : { before: end }),
        ...layouts[4],
        ...(isFirstFallback ? { variants } : {}),
      };
    });
  const requirement = fc.constantFrom(
    undefined,
    ">=1",
    ">=2.0.12",
    ">=2.0.12-rc.1, <2.1",
    "~2.0.12",
    "<2.0.12",
    "=2.1.0",
    ">2.1.252",
    "1.*",
    ">=2.0.12, <2.0.13-a",
  );
  const setting = fc.record({
    packages: fc.array(adapter, { minLength: 1, maxLength: 3 }),
    requirement,
    isOpen: fc.boolean(),
  });

  const around = (version: SemVer): SemVer[] => {
    const { major, minor, patch, prerelease } = version;
    const texts = [
      version.version,
      `${major}.${minor}.${patch}`,
      `${major}.${minor}.${patch + 1}`,
      `${major}.${minor + 1}.0`,
      `${major + 1}.0.0`,
    ];
    return [...texts, ...(prerelease.length > 0 ? [`${version.version}.0`] : [])].flatMap(
      (text) => parse(text) ?? [],
    );
  };
  const { generations } = getHarness("claude");
  const generationAt = (version: SemVer) =>
    generations.find(
      ({ introduced, before }) =>
        compare(version, introduced) >= 0 && (before === null || compare(version, before) < 0),
    );

  /** The invalid places, found by trying every version at which something starts or ends. */
  const wrongByListing = (
    packages: readonly ManagedPackage[],
    text: string | undefined,
    isOpen: boolean,
  ): Set<string> => {
    const range = text === undefined ? undefined : parseRequirement(text);
    const mayRun = (version: SemVer): boolean => {
      const generation = generationAt(version);
      if (!generation || !(isOpen || compare(version, generation.verifiedBefore) < 0)) return false;
      return range?.isSatisfiedBy(version) ?? true;
    };
    const boundsOf = ({ adapters }: ManagedPackage): string[] =>
      [adapters.claude, ...(adapters.claude?.variants ?? [])].flatMap((one) => [
        one?.introduced ?? "0.0.0",
        ...(one?.before === undefined ? [] : [one.before]),
      ]);
    const starts = generations.flatMap(({ introduced }) => parse(introduced) ?? []);
    const candidatesOf = (some: readonly ManagedPackage[]): SemVer[] =>
      [
        ...starts,
        ...[
          ...some.flatMap(boundsOf).flatMap((bound) => parse(bound) ?? []),
          ...(range?.endpoints() ?? []),
        ].flatMap(around),
      ].filter(mayRun);
    const layoutAt = ({ adapters }: ManagedPackage, version: SemVer) =>
      adapters.claude && layoutFor(adapters.claude, version);
    const wrong = new Set<string>();
    packages.forEach((managed, index) => {
      const candidates = candidatesOf([managed]);
      if (candidates.length === 0) wrong.add(RANGE);
      const isServed = (version: SemVer): boolean => {
        const found = layoutAt(managed, version);
        const generation = generationAt(version);
        return (
          found !== undefined &&
          generation !== undefined &&
          acceptsComponents(generation, componentsOf(found))
        );
      };
      if (!candidates.every(isServed)) wrong.add(`/packages/${index}/adapters/claude`);
    });
    const isTwice = (version: SemVer): boolean => {
      const names = packages.flatMap((managed) => Object.keys(layoutAt(managed, version)?.helpers ?? {}));
      return new Set(names).size < names.length;
    };
    if (candidatesOf(packages).some(isTwice)) wrong.add("twice");
    return wrong;
  };

  test("judges random packages as if every candidate version were tried", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(setting, ({ packages, requirement: text, isOpen }) => {
        const isAsked = isOpen && text !== undefined;
        const input = claudeDocument({
          packages: packages.map((one, index) => claude(one, `p${index}`)),
          ...(text === undefined ? {} : { requirement: text }),
          isOpen: isAsked,
        });
        const { document, problems } = readDraft(input);
        fc.pre(problems.length === 0);
        const found = checkDocument(document, { gateway: false, harnesses: HARNESSES });
        const places = found.map(({ pointer, detail }) =>
          detail.startsWith("the command") ? "twice" : pointer,
        );
        const expected = wrongByListing(document.packages, text, isAsked);
        expect(new Set(places)).toEqual(expected);
        for (const place of expected) seen.add(place);
        if (expected.size === 0) seen.add("fine");
      }),
      { numRuns: 500 },
    );
    expect([...seen]).toEqual(expect.arrayContaining(["fine", "twice", RANGE, PLACE]));
  });
});
