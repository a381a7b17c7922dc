// The first changes of a policy as a page lists them, and all of them as text.
import { expect, test } from "bun:test";
import type { Change } from "../../../../src/domain/governance/service.ts";
import {
  CHANGES_LISTED_MAX,
  changeListOf,
  changesIn,
  isWithoutChanges,
} from "../../../../src/domain/governance/shown/change-list.ts";
import { HIDDEN, HIDDEN_OTHER } from "../../../../src/domain/governance/shown/hidden-secrets.ts";
import { VALUE_CHARACTERS_SHOWN_MAX } from "../../../../src/domain/governance/shown/shown-values.ts";

const SHOWN = { isHidden: false, documents: [] };
const HIDING = { isHidden: true, documents: [] };
const STAMP: Change = { path: "/contract_version", before: 1, after: 2 };

test.each([CHANGES_LISTED_MAX - 1, CHANGES_LISTED_MAX, CHANGES_LISTED_MAX + 1])(
  "lists at most CHANGES_LISTED_MAX of %d changes, counts the others, and keeps all in the text",
  (count) => {
    const changes = Array.from({ length: count }, (_, at): Change => ({ path: `/k${at}`, after: at }));
    const list = changeListOf([...changes, STAMP], SHOWN);
    expect(list).toMatchObject({ count, left: Math.max(0, count - CHANGES_LISTED_MAX) });
    expect(list.listed).toHaveLength(Math.min(count, CHANGES_LISTED_MAX));
    expect(list.stamped).toEqual([{ path: "/contract_version", before: "1", after: "2" }]);
    expect(changesIn(list)).toEqual([...changes, STAMP]);
  },
);

test.each([VALUE_CHARACTERS_SHOWN_MAX - 1, VALUE_CHARACTERS_SHOWN_MAX, VALUE_CHARACTERS_SHOWN_MAX + 1])(
  "lists VALUE_CHARACTERS_SHOWN_MAX characters of a value with %d",
  (length) => {
    const { listed } = changeListOf([{ path: "/a", before: "x".repeat(length) }], SHOWN);
    const rest = length > VALUE_CHARACTERS_SHOWN_MAX ? "…" : "";
    const before = "x".repeat(Math.min(length, VALUE_CHARACTERS_SHOWN_MAX)) + rest;
    expect(listed).toEqual([{ path: "/a", before }]);
  },
);

test("CON-144 the list hides values of variables if that is wanted, and the text has them", () => {
  const change = { path: "/harnesses/codex/mcp/one/env/KEY", before: "secret", after: "other" };
  expect(changeListOf([change], HIDING).listed).toEqual([
    { path: change.path, before: HIDDEN, after: HIDDEN_OTHER },
  ]);
  expect(changeListOf([change], SHOWN).listed).toEqual([change]);
  expect(changesIn(changeListOf([change], HIDING))).toEqual([change]);
});

test("a list is empty only without stamps", () => {
  expect(isWithoutChanges(changeListOf([], HIDING))).toBe(true);
  expect(isWithoutChanges(changeListOf([STAMP], HIDING))).toBe(false);
});
