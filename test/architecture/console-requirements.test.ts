// The mandatory requirements of the console's specification, by number. The tables under test/requirements have the rows that tests
// prove; this list shows which ones are missing.
import { expect, test } from "bun:test";
import { idsIn, rows } from "./requirement-rows.ts";

/** The specification gives each requirement one number. Numbers between the ranges are unused or optional. */
const MUSTS = idsIn(
  "CON-1 to CON-24, CON-26 to CON-38, CON-40 to CON-43, CON-45 to CON-77, CON-80 to CON-81, CON-90 to CON-99, " +
    "CON-110 to CON-122, CON-130 to CON-138, CON-140 to CON-157, CON-159",
);

test("CON-159 every mandatory requirement of the console has a row that a test quotes", () => {
  const proven = new Set(rows.flatMap(({ id, isMust }) => (isMust ? id : [])));
  expect(MUSTS.filter((id) => !proven.has(id))).toEqual([]);
});
