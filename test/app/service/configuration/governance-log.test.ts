// Log lines about a configuration file that differs from the policy in force in up to thousands of places.
import { expect, test } from "bun:test";
import { logGovernance, POLICY_LINES_MAX } from "../../../../src/app/files/governance-file.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { problemsOf } from "../../../../src/server/overview/problems.ts";

const placesOf = (count: number) => Array.from({ length: count }, (_, at) => `/harnesses/codex/${at}`);

test.each([
  ["below", POLICY_LINES_MAX - 1, POLICY_LINES_MAX - 1],
  ["at", POLICY_LINES_MAX, POLICY_LINES_MAX],
  ["above", POLICY_LINES_MAX + 7, POLICY_LINES_MAX + 1],
])("conflicts and warnings %s their limit are logged", (_, count, wanted) => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLog({ level: "info", format: "json", write, clock: { nowMs: () => 0 } });
  const warnings = placesOf(count).map((pointer) => ({ pointer, detail: "is odd" }));
  logGovernance(log, { outcome: "kept", revision: "r", conflicts: placesOf(count), problems: [], warnings });
  const of = (name: string) => lines.filter(({ event }) => event === name);
  expect([of("policy.conflict").length, of("policy.warning").length]).toEqual([wanted, wanted]);
  expect(of("policy.conflict").at(-1)?.more).toBe(count > POLICY_LINES_MAX ? 7 : undefined);
});

test("the overview names some conflicts and counts the others", () => {
  const found = { diagnosis: "running", refusals: 0, expiring: 0 } as const;
  const [problem] = problemsOf({ ...found, conflicts: placesOf(10_000) });
  expect(problem?.detail).toContain("in 10000 places: /harnesses/codex/0, ");
  expect(problem?.detail).toEndWith(", and 9995 more");
});
