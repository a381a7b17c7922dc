// Installed versions against a policy, and which layout of a package supports them.
import { describe, expect, test } from "bun:test";
import type { HarnessPolicy } from "../../../../src/domain/governance/model.ts";
import { layoutFor } from "../../../../src/domain/governance/versions/layout-selection.ts";
import { checkVersion } from "../../../../src/domain/governance/versions/versions.ts";
import type { HarnessKey } from "../../../../src/domain/harnesses/harnesses.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";

const asking = (version_requirement?: string, isOpen = false): HarnessPolicy => ({
  ...(version_requirement === undefined ? {} : { version_requirement }),
  ...(isOpen ? { allow_unverified_versions: true } : {}),
  managed_config: {},
  mcp: [],
  package_overrides: {},
});

describe("a version", () => {
  const rows: [string, HarnessPolicy | undefined, HarnessKey, string, string | undefined][] = [
    ["of a harness without a policy does", undefined, "codex", "0.1.0", undefined],
    ["just below the ceiling does", undefined, "codex", "0.151.0", undefined],
    ["at the ceiling does not", undefined, "codex", "0.151.1-0", "certified are versions below 0.151.1-0"],
    ["above the ceiling does not", undefined, "codex", "1.0.0", "is not certified"],
    ["above the ceiling does where the policy opts in", asking(">=0.1", true), "codex", "1.0.0", undefined],
    [
      "a pre-release of a boundary is of the older generation, which is not certified for it",
      undefined,
      "claude",
      "2.0.12-rc.1",
      "certified are versions below 2.0.12-0",
    ],
    ["at a boundary is of the newer generation", undefined, "claude", "2.0.12", undefined],
    ["inside the range does", asking(">=2, <3"), "claude", "2.1.0", undefined],
    [
      "outside of the range does not",
      asking(">=2, <3"),
      "claude",
      "1.9.9",
      "does not satisfy the required >=2, <3",
    ],
    [
      "outside of the range does not, with any opt-in",
      asking(">=3", true),
      "claude",
      "2.9.9",
      "does not satisfy",
    ],
    [
      "a pre-release that the range does not name does not",
      asking(">=2"),
      "claude",
      "2.1.0-rc.1",
      "does not satisfy",
    ],
    ["older than every generation does not", undefined, "kimi", "0.0.0-alpha", "older than any"],
    ["with build metadata does", asking("=0.39.1"), "kimi", "0.39.1+build", undefined],
    ["that is none does not", undefined, "kimi", "v0.39.1", "is not a full version"],
    ["that is partial does not", undefined, "kimi", "0.39", "is not a full version"],
    ["that is empty does not", undefined, "kimi", "", "is not a full version"],
  ];
  test.each(rows)("%s", (_name, policy, harness, version, fault) => {
    const found = checkVersion(HARNESSES, policy, harness, version);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });

  test("shows an invalid version shortened and without control characters", () => {
    const found = checkVersion(HARNESSES, undefined, "codex", `\u001b${"x".repeat(10_000)}`) ?? "";
    expect(found.length).toBeLessThan(200);
    expect(found).not.toContain("\u001b");
  });
});

describe("the layout for a version", () => {
  const layout = (plugin_dir: string) => ({ plugin_dir, plugins: [], helpers: {} });
  const variant = (introduced: string, before?: string) => ({
    introduced,
    ...(before === undefined ? {} : { before }),
    ...layout(introduced),
  });
  const bare = { plugins: [], helpers: {} };
  const bounded = { introduced: "1.0.0", before: "2.0.0", ...layout("fallback") };
  const withGap = { ...bounded, variants: [variant("1.1.0", "1.2.0"), variant("1.5.0", "2.0.0")] };
  const noFallback = { ...bare, variants: [variant("0.0.0", "1.0.0"), variant("1.0.0")] };
  const rows: [string, Parameters<typeof layoutFor>[0], string, string | undefined][] = [
    ["is the adapter's where it has no variants", bounded, "1.0.0", "fallback"],
    ["is none before the availability", bounded, "0.9.9", undefined],
    ["is none for a pre-release of its start", bounded, "1.0.0-rc.1", undefined],
    ["is still there for a pre-release of its end", bounded, "2.0.0-rc.1", "fallback"],
    ["is none from its end on", bounded, "2.0.0", undefined],
    ["is the variant's if one contains the version", withGap, "1.1.0", "1.1.0"],
    ["is the fallback where a variant has just ended", withGap, "1.2.0", "fallback"],
    ["is the fallback before the first variant", withGap, "1.0.5", "fallback"],
    ["is the last variant's up to the end", withGap, "1.9.9", "1.5.0"],
    ["is the variant's without a fallback", noFallback, "0.5.0", "0.0.0"],
    ["is the open-ended variant's for all later versions", noFallback, "99.0.0", "1.0.0"],
    ["is none for an invalid version", bounded, "one", undefined],
  ];
  test.each(rows)("%s", (_name, adapter, version, expected) => {
    expect(layoutFor(adapter, version)?.plugin_dir).toBe(expected);
  });

  test("returns an empty layout for an empty adapter", () => {
    expect(layoutFor(bare, "1.0.0")).toEqual(bare);
  });
});
