// CON-55: how a page shortens a long difference.
import { expect, test } from "bun:test";
import { Fragment, h } from "preact";
import { renderToString } from "preact-render-to-string";
import {
  drawTextDifference,
  TEXT_ROWS_SHOWN_MAX,
} from "../../../../src/server/console/policy/text-difference.tsx";

const rows = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    isChanged: true,
    before: undefined,
    after: { number: at + 1, text: "<b>" },
  }));
const shown = (count: number) => {
  const html = renderToString(h(Fragment, null, drawTextDifference([rows(count - 5), rows(5)])));
  return {
    rows: html.split("<tr class").length - 1,
    isCut: html.includes("more lines"),
    isText: !html.includes("<b>"),
  };
};

test.each([
  [TEXT_ROWS_SHOWN_MAX - 1, TEXT_ROWS_SHOWN_MAX - 1, false],
  [TEXT_ROWS_SHOWN_MAX, TEXT_ROWS_SHOWN_MAX, false],
  [TEXT_ROWS_SHOWN_MAX + 1, TEXT_ROWS_SHOWN_MAX, true],
])("CON-55 a page with %p changed lines shows %p", (count, expected, isCut) => {
  expect(shown(count)).toEqual({ rows: expected, isCut, isText: true });
});

test("CON-55 texts that differ too much say so", () => {
  expect(renderToString(h(Fragment, null, drawTextDifference(undefined)))).toContain("not compared as text");
});
