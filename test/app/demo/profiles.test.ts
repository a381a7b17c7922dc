// The example organization of a demo: the seed determines it, and each health state has an example.
import { describe, expect, test } from "bun:test";
import { WORKSTATIONS_DEFAULT, WORKSTATIONS_MAX } from "../../../src/app/demo/limits.ts";
import { profilesOf, USERS } from "../../../src/app/demo/profiles.ts";
import { UUID_PATTERN } from "../../../src/platform/ids.ts";

describe("workstations of a demo", () => {
  test("makes equal workstations for equal seeds and different ones for different seeds", () => {
    expect(profilesOf("a", 5)).toEqual(profilesOf("a", 5));
    expect(profilesOf("b", 5)).not.toEqual(profilesOf("a", 5));
  });

  test("keep their names when their number grows", () => {
    expect(profilesOf("a", 9).slice(0, 5)).toEqual(profilesOf("a", 5));
  });

  test("have unique names and instance ids up to the limit", () => {
    const all = profilesOf("a", WORKSTATIONS_MAX);
    expect(new Set(all.map(({ hostname }) => hostname)).size).toBe(WORKSTATIONS_MAX);
    expect(new Set(all.map(({ instanceId }) => instanceId)).size).toBe(WORKSTATIONS_MAX);
    for (const { instanceId, user } of all) {
      expect(instanceId).toMatch(UUID_PATTERN);
      expect(USERS).toContain(user);
    }
  });

  test("include an outdated version, changed files and a sleeping laptop, each on a different one, at the default size", () => {
    const all = profilesOf("a", WORKSTATIONS_DEFAULT);
    for (const { isOld, hasChangedFiles, isAsleep } of all)
      expect([isOld, hasChangedFiles, isAsleep].filter(Boolean).length).toBeLessThanOrEqual(1);
    expect(all.some(({ isOld }) => isOld)).toBe(true);
    expect(all.some(({ hasChangedFiles }) => hasChangedFiles)).toBe(true);
    expect(all.some(({ isAsleep }) => isAsleep)).toBe(true);
  });
});
