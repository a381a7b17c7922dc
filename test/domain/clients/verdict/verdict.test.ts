// The verdict on a report, rule by rule.
import { describe, expect, test } from "bun:test";
import { REASON_LENGTH_MAX, REASONS_MAX } from "../../../../src/domain/clients/limits.ts";
import type { Evaluation, Reported } from "../../../../src/domain/clients/model.ts";
import {
  type CheckVersion,
  type Expectations,
  expectationsOf,
} from "../../../../src/domain/clients/verdict/expectations.ts";
import { evaluate, VERSION_TEXT_MAX } from "../../../../src/domain/clients/verdict/verdict.ts";
import type { GovernanceConfig, PackageAudiences } from "../../../../src/domain/governance/service.ts";
import { checkVersion } from "../../../../src/domain/governance/versions/versions.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import {
  DIGEST,
  documentWith,
  LINUX_DIGEST,
  MAC_DIGEST,
  packageWith,
  REVISION,
  reportedHarness,
  reportedPackage,
  reportedWith,
  USER,
} from "../policies.ts";

const checkVersionHere: CheckVersion = (...question) => checkVersion(HARNESSES, ...question);

interface Policy {
  document?: Partial<GovernanceConfig>;
  audiences?: PackageAudiences;
}

const evaluatedBy = (
  expectations: Expectations | undefined,
  reported?: Partial<Reported>,
  groups: string[] = [],
): Evaluation => {
  const read = reportedWith(reported);
  return evaluate(read, { expectations, user: { id: read.userId, groups: () => groups } });
};

function evaluated(reported: Partial<Reported>, { document, audiences = {} }: Policy = {}): Evaluation {
  const revision = { document: documentWith(document), audiences };
  return evaluatedBy(expectationsOf(revision, checkVersionHere), reported);
}

const MATCHES: Evaluation = { verdict: "matches", reasons: [] };
const differs = (...reasons: string[]): Evaluation => ({ verdict: "differs", reasons });

test("a report that meets all expectations of the revision matches", () => {
  expect(evaluated({})).toEqual(MATCHES);
});

describe("the revision of a report", () => {
  test("is unknown if the report names none", () => {
    const reasons = ["no revision of the policy was applied yet"];
    expect(evaluated({ configRevision: null })).toEqual({ verdict: "unknown", reasons });
  });

  test("is unknown if the organization has no such revision, and the reason names it", () => {
    const reasons = [`the revision ${REVISION} is not one of this organization`];
    expect(evaluatedBy(undefined)).toEqual({ verdict: "unknown", reasons });
  });

  test("is the revision of the attempt if there was one", () => {
    const attempt = { harness: "codex", revision: REVISION };
    const reported = { attempt, configRevision: "another", error: "disk full" };
    expect(evaluated(reported)).toEqual(differs("disk full", `the revision ${REVISION} is not applied`));
  });
});

describe("the workstation as a whole", () => {
  test.each<[string, Partial<Reported>, Evaluation]>([
    [
      "a revision that is not applied",
      { applied: false },
      differs(`the revision ${REVISION} is not applied`),
    ],
    ["files that are not right", { filesOk: false }, differs("managed files are missing or were changed")],
    ["an error, trimmed", { error: " no space left \n" }, differs("no space left")],
    ["a blank error counts as no error", { error: "  " }, MATCHES],
    [
      "an error that only reports waiting counts as no error",
      { error: " configuration is not current " },
      MATCHES,
    ],
    [
      "an error that only begins like it",
      { error: "configuration is not current: 5" },
      differs("configuration is not current: 5"),
    ],
  ])("%s", (_, reported, evaluation) => {
    expect(evaluated(reported)).toEqual(evaluation);
  });
});

describe("the harnesses that a report confirms", () => {
  const nothing = { packages: [] };
  const missing = differs("review (codex): is missing");

  test("include those that it reconciled, given as objects", () => {
    expect(evaluated({ ...nothing })).toEqual(missing);
    expect(evaluated({ ...nothing, harnesses: [reportedHarness({ reconciled: false })] })).toEqual(MATCHES);
    expect(evaluated({ ...nothing, harnesses: [reportedHarness({ reconciled: "yes" })] })).toEqual(MATCHES);
  });

  test("include those that older clients name", () => {
    expect(evaluated({ ...nothing, harnesses: ["codex"] })).toEqual(missing);
  });

  test("exclude harnesses that may not run, and unknown ones", () => {
    const harnesses = ["kimi", "codex-cli", 5, null, {}, { name: 7, reconciled: true }];
    expect(evaluated({ ...nothing, harnesses })).toEqual(MATCHES);
  });

  test("include that of a failed attempt, reconciled or not", () => {
    const attempt = { harness: "codex", revision: REVISION };
    const harnesses = [reportedHarness({ reconciled: false })];
    expect(evaluated({ ...nothing, harnesses, attempt, error: "why" }).reasons).toContain(
      "review (codex): is missing",
    );
  });

  test("confirms only the harness of the attempt while another revision is applied", () => {
    const attempt = { harness: "claude", revision: REVISION };
    const reported = { ...nothing, attempt, error: "why", configRevision: "another" };
    expect(evaluated(reported).reasons).toEqual([
      "review (claude): is missing",
      `the revision ${REVISION} is not applied`,
      "why",
    ]);
  });
});

describe("the version of a harness", () => {
  const withHarness = (members: Record<string, unknown>) => ({ harnesses: [reportedHarness(members)] });
  const ranged = { document: { harnesses: { codex: { version_requirement: ">=0.146.0", ...EMPTY } } } };

  test.each<[string, Record<string, unknown>, Evaluation]>([
    [
      "is ignored if the client does not support the harness",
      { client_supported: false, version: "9" },
      differs("codex: the client does not support it"),
    ],
    ["must be there", { version: undefined }, differs("codex: no version was reported")],
    ["is read from the raw text if it is missing", { version: "", raw_version: "0.145.0" }, MATCHES],
    ["is found in the raw text", { version: undefined, raw_version: "codex-cli v0.145.0 (x)" }, MATCHES],
    [
      "must be below the certified ceiling",
      { version: "99.0.0" },
      differs("codex: version 99.0.0 is not certified; certified are versions below 0.151.1-0"),
    ],
    ["must be one", { version: "newest" }, differs('codex: "newest" is not a full version such as 2.0.12')],
  ])("%s", (_, members, evaluation) => {
    expect(evaluated(withHarness(members))).toEqual(evaluation);
  });

  test.each([
    [VERSION_TEXT_MAX - 1, "matches"],
    [VERSION_TEXT_MAX, "matches"],
    [VERSION_TEXT_MAX + 1, "differs"],
  ] as const)(
    "finds a version within the limit only: one that ends after %d characters of a text %s",
    (length, verdict) => {
      const version = ` codex 0.145.0`.padStart(length, "x");
      expect(evaluated(withHarness({ version })).verdict).toBe(verdict);
    },
  );

  test("must satisfy the policy, for which the same response is given again and again", () => {
    const wrong = differs("codex: version 0.145.0 does not satisfy the required >=0.146.0");
    expect(evaluated({}, ranged)).toEqual(wrong);
    const expectations = expectationsOf(
      { document: documentWith(ranged.document), audiences: {} },
      checkVersionHere,
    );
    for (let time = 0; time < 3; time++) expect(evaluatedBy(expectations)).toEqual(wrong);
    expect(evaluatedBy(expectations, withHarness({ version: "0.146.0" }))).toEqual(MATCHES);
  });
});

const EMPTY = { managed_config: {}, mcp: [], package_overrides: {} };

describe("packages", () => {
  test.each<[string, Record<string, unknown>[], Evaluation]>([
    ["must be there", [], differs("review (codex): is missing")],
    [
      "must be there once",
      [reportedPackage(), reportedPackage()],
      differs("review (codex): is reported twice"),
    ],
    [
      "must be expected",
      [reportedPackage(), reportedPackage({ id: "other" })],
      differs("other (codex): is not expected"),
    ],
    [
      "must be applied, or report the reason",
      [reportedPackage({ state: "failed", error: " no network " })],
      differs("review (codex): is failed: no network"),
    ],
    ["must have a state", [reportedPackage({ state: 5 })], differs("review (codex): is in no known state")],
    [
      "must have the version and the digest",
      [reportedPackage({ version: "0.9.0", sha256: MAC_DIGEST })],
      differs(
        "review (codex): has another digest than the policy names",
        "review (codex): has another version than 1.0.0",
      ),
    ],
    ["may write the digest in capitals", [reportedPackage({ sha256: DIGEST.toUpperCase() })], MATCHES],
    [
      "of harnesses out of scope are ignored",
      [reportedPackage(), reportedPackage({ harness: "kimi" })],
      MATCHES,
    ],
    ["that have no id are not packages", [reportedPackage(), { harness: "codex" }], MATCHES],
  ])("%s", (_, packages, evaluation) => {
    expect(evaluated({ packages })).toEqual(evaluation);
  });

  test("does not expect packages where they are switched off for a harness", () => {
    const off = { ...EMPTY, package_overrides: { review: { enabled: false, settings: {} } } };
    const policy = { document: { harnesses: { codex: off } } };
    expect(evaluated({}, policy)).toEqual(differs("review (codex): is not expected"));
    expect(evaluated({ packages: [] }, policy)).toEqual(MATCHES);
  });

  test("does not expect packages without an adapter for the harness", () => {
    const packages = [packageWith({ adapters: { claude: { plugins: [], helpers: {} } } })];
    expect(evaluated({ packages: [] }, { document: { packages } })).toEqual(MATCHES);
  });

  test("expects packages only of users who may see them", () => {
    const audienceOf = (...userIds: string[]) => ({
      audiences: { review: { scope: "users" as const, user_ids: userIds } },
    });
    expect(evaluated({ packages: [] }, audienceOf("another"))).toEqual(MATCHES);
    expect(evaluated({ packages: [] }, audienceOf("another", USER))).toEqual(
      differs("review (codex): is missing"),
    );
  });

  test("expects packages of the members of groups that may see them, too", () => {
    const audiences = { review: { scope: "users" as const, user_ids: [], group_ids: ["engineers"] } };
    const expectations = expectationsOf({ document: documentWith(), audiences }, checkVersionHere);
    const missing = differs("review (codex): is missing");
    expect(evaluatedBy(expectations, { packages: [] }, ["sales", "engineers"])).toEqual(missing);
    expect(evaluatedBy(expectations, { packages: [] }, ["sales"])).toEqual(MATCHES);
  });
});

describe("packages with archives for platforms", () => {
  const source = (sha256: string) => ({ source_ref: "a.tar.gz", sha256 });
  const platform_sources = {
    "macos-aarch64": source(MAC_DIGEST),
    "linux-x86_64": source(LINUX_DIGEST.toUpperCase()),
    "linux-aarch64": source(DIGEST),
  };
  const policy = { document: { packages: [packageWith({ platform_sources })] } };
  const withDigest = (sha256: string) => ({ packages: [reportedPackage({ sha256 })] });

  test("need the digest of that platform and architecture", () => {
    expect(evaluated(withDigest(LINUX_DIGEST), policy)).toEqual(MATCHES);
    const wrong = differs("review (codex): has another digest than the policy names");
    expect(evaluated(withDigest(DIGEST), policy)).toEqual(wrong);
    expect(evaluated(withDigest(MAC_DIGEST), policy)).toEqual(wrong);
  });

  test("accept any of the platform if the architecture is unknown", () => {
    expect(evaluated({ ...withDigest(DIGEST), architecture: null }, policy)).toEqual(MATCHES);
    expect(evaluated({ ...withDigest(LINUX_DIGEST), architecture: null }, policy)).toEqual(MATCHES);
    expect(evaluated({ ...withDigest(MAC_DIGEST), architecture: null }, policy).verdict).toBe("differs");
  });

  test("report if there is none, whether reported or not", () => {
    const reason = "review (codex): has no archive for windows-x86_64";
    expect(evaluated({ ...withDigest(DIGEST), platform: "windows" }, policy)).toEqual(differs(reason));
    expect(evaluated({ packages: [], platform: "windows" }, policy)).toEqual(differs(reason));
    const anywhere = { packages: [], platform: "windows", architecture: null };
    expect(evaluated(anywhere, policy)).toEqual(differs("review (codex): has no archive for windows"));
  });
});

describe("reasons", () => {
  const strangers = (count: number) => ({
    packages: [
      reportedPackage(),
      ...Array.from({ length: count }, (_, at) => reportedPackage({ id: `x${String(at).padStart(4, "0")}` })),
    ],
  });

  test("sorts the reasons and removes duplicates", () => {
    const { reasons } = evaluated({
      filesOk: false,
      packages: [],
      harnesses: [reportedHarness({ version: "9.0.0" }), reportedHarness({ version: "9.0.0" })],
    });
    expect(reasons).toEqual([
      "codex: version 9.0.0 is not certified; certified are versions below 0.151.1-0",
      "managed files are missing or were changed",
      "review (codex): is missing",
    ]);
  });

  test.each([REASONS_MAX - 1, REASONS_MAX])("reports all reasons up to the limit, %d", (count) => {
    expect(evaluated(strangers(count)).reasons).toHaveLength(count);
  });

  test("counts the reasons beyond the maximum", () => {
    const { reasons } = evaluated(strangers(REASONS_MAX + 1));
    expect(reasons).toHaveLength(REASONS_MAX + 1);
    expect(reasons.at(-1)).toBe("and 1 more");
  });

  test.each([REASON_LENGTH_MAX - 1, REASON_LENGTH_MAX, REASON_LENGTH_MAX + 1])(
    "cuts a reason to the longest allowed, not above: %d",
    (length) => {
      const [reason = ""] = evaluated({ error: "e".repeat(length) }).reasons;
      expect(reason).toHaveLength(Math.min(length, REASON_LENGTH_MAX));
    },
  );
});
