// The models of the gateway on the screen of `status`; nothing without gateway mode.
import { modelsText } from "../../../src/app/doctor/model-catalog.ts";
import type { CatalogFigures } from "../../../src/domain/inference/models/catalog.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import { ageText } from "../../output/age.ts";
import { type Fact, timeOf } from "../../output/details.ts";

/** @returns the counts with the time of the last refresh, and a line for each problem */
export function modelFacts(figures: CatalogFigures | undefined, { nowMs }: { nowMs: number }): Fact[] {
  if (!figures) return [];
  const { refreshedAtMs, problem, isStale, assignedProblems, assignments } = figures;
  const since =
    refreshedAtMs === null
      ? "not refreshed yet"
      : `refreshed ${toRfc3339(refreshedAtMs)} (${ageText(refreshedAtMs, nowMs)})`;
  const problems = [
    ...(problem === null ? [] : [`the last refresh failed: ${problem}`]),
    ...(problem === null && isStale ? ["not refreshed for two intervals"] : []),
    ...(assignedProblems.length === 0
      ? []
      : [`${assignedProblems.length} assigned, but changed or not offered; see gateway models list`]),
    ...(assignments === "incomplete" ? ["assignments are incomplete, so workstations do not get them"] : []),
  ];
  return [
    ["gateway models", `${modelsText(figures)}; ${since}`],
    ...problems.map((text): Fact => ["", text]),
  ];
}

export const modelsDocument = (figures: CatalogFigures): object => ({
  ...figures.states,
  assignments: figures.assignments,
  assigned_not_available: figures.assignedProblems.map(({ id, state }) => ({ id, state })),
  refreshed_at: timeOf(figures.refreshedAtMs),
  discovery_supported: figures.isSupported,
  latest_error: figures.problem,
  stale: figures.isStale,
});
