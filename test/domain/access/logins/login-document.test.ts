// How the query of a list of logins is parsed: every parameter valid, absent and invalid.
import { expect, test } from "bun:test";
import { readLoginQuery, type SentLoginQuery } from "../../../../src/domain/access/logins/login-document.ts";
import { LOGINS_PER_PAGE_MAX } from "../../../../src/domain/access/model.ts";
import { DomainError } from "../../../../src/platform/errors.ts";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";

/** @returns the query, or the pointers of the problems */
function readingOf(sent: SentLoginQuery): unknown {
  try {
    return readLoginQuery(sent);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.problems.map(({ pointer }) => pointer);
  }
}

test.each<[keyof SentLoginQuery, string, unknown]>([
  ["kind", "grant", { kind: "grant" }],
  ["kind", "grants", ["/kind"]],
  ["show", "all", { show: "all" }],
  ["show", "", ["/show"]],
  ["user_id", ID, { userId: ID }],
  ["user_id", ID.toUpperCase(), { userId: ID }],
  ["user_id", `${ID}0`, ["/user_id"]],
  ["cursor", ID, { after: ID }],
  ["cursor", "none", ["/cursor"]],
  ["limit", "0", ["/limit"]],
  ["limit", "1", { limit: 1 }],
  ["limit", "2", { limit: 2 }],
  ["limit", `${LOGINS_PER_PAGE_MAX - 1}`, { limit: LOGINS_PER_PAGE_MAX - 1 }],
  ["limit", `${LOGINS_PER_PAGE_MAX}`, { limit: LOGINS_PER_PAGE_MAX }],
  ["limit", `${LOGINS_PER_PAGE_MAX + 1}`, ["/limit"]],
  ["limit", "1.5", ["/limit"]],
  ["limit", "-1", ["/limit"]],
  ["limit", "", ["/limit"]],
])("the parameter %s with the value %p", (name, value, read) => {
  expect(readingOf({ [name]: value })).toEqual(read);
});

test("a query without parameters lists everything, and all invalid parameters are named together", () => {
  expect(readingOf({})).toEqual({});
  const sent = { kind: "x", show: "x", user_id: "x", cursor: "x", limit: "x" };
  expect(readingOf(sent)).toEqual(["/kind", "/show", "/user_id", "/cursor", "/limit"]);
});
