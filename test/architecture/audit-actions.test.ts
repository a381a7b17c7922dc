// The list of audit actions names every action that the source records, so that its metric and the handbook include it.
import { expect, test } from "bun:test";
import { AUDIT_ACTIONS } from "../../src/domain/audit/actions.ts";
import { readSources } from "../support/source.ts";

const RECORDED = /\baction: "(?<action>\w+\.\w+)"/g;

test("every recorded action is in the list of audit actions", async () => {
  const sources = await readSources(["src/domain", "src/app", "src/server"]);
  const recorded = sources.flatMap(({ code }) =>
    [...code.matchAll(RECORDED)].map(({ groups }) => groups?.action ?? ""),
  );
  expect(recorded.length).toBeGreaterThan(AUDIT_ACTIONS.length / 2);
  expect(recorded.filter((action) => !AUDIT_ACTIONS.includes(action))).toEqual([]);
});
