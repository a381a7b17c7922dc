// Verdicts on the reports of a fleet: the expectations of a revision are prepared once for any number of workstations.
import { expect, test } from "bun:test";
import { createEvaluator } from "../../../../src/domain/clients/verdict/verdict-cache.ts";
import type { Revision } from "../../../../src/domain/governance/service.ts";
import { checkVersion } from "../../../../src/domain/governance/versions/versions.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import { documentWith, reportedWith } from "../policies.ts";

const WORKSTATIONS = 200;

const REVISION_IN_FORCE: Omit<Revision, "id" | "organizationId"> = {
  sequence: 1,
  document: documentWith(),
  audiences: {},
  origin: "operator",
  authorId: null,
  authorLabel: "test",
  comment: null,
  summary: null,
  createdAtMs: 0,
};

test("a revision is read once for the reports of all workstations, and again only after the certified versions changed", () => {
  let reads = 0;
  let harnesses: typeof HARNESSES = [...HARNESSES];
  const evaluate = createEvaluator({
    findRevision(organizationId, id) {
      reads += 1;
      return { ...REVISION_IN_FORCE, organizationId, id };
    },
    checkVersion: (...question) => checkVersion(HARNESSES, ...question),
    userGroups: { of: () => [] },
    harnesses: () => harnesses,
  });
  const verdicts = Array.from({ length: WORKSTATIONS }, (_, at) =>
    evaluate(reportedWith({ userId: `user-${at}` })),
  );
  expect(verdicts).toEqual(verdicts.map(() => ({ verdict: "matches", reasons: [] })));
  expect(reads).toBe(1);
  harnesses = harnesses.slice(1);
  evaluate(reportedWith());
  expect(reads).toBe(2);
});
