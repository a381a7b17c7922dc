// How long lists of names are shortened.
import { expect, test } from "bun:test";
import { NAMES_SHOWN_MAX, nameList } from "../../../src/platform/text/name-list.ts";

test.each([-1, 0, 1])("counts the names beyond the limit in a list with %i more", (step) => {
  const names = Array.from({ length: NAMES_SHOWN_MAX + step }, (_, at) => `name-${at}`);
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(", ");
  expect(nameList(names)).toBe(step > 0 ? `${shown}, and 1 more` : shown);
});
