// The title of a test is a complete sentence, because a report of failures and a search show it without its group. A
// title that begins with one of the words below continues the title of its group instead.
import { expect, test } from "bun:test";
import { readSources, titlesIn } from "../support/source.ts";

const REMEDY = "begin with the subject or the verb";
const CONTINUES = new Set(
  (
    "also and are as at because behind but by for from in it its no nor not of on or over so such that to under unless when " +
    "which who whom whose with without"
  ).split(" "),
);

/** the ids of requirements at the start of a title: one, several or a range, with or without a colon at the end */
const IDS = /^(?:[A-Z]+-\d+[:,]? (?:(?:and|to) (?=[A-Z]+-\d))?)*/;

/** @returns the titles that continue another text, each with the remedy */
const continuationsIn = (text: string): string[] =>
  titlesIn(text).flatMap((title) => {
    const [word = ""] = /^(?:…|\.\.\.|[\w']*)/.exec(title.replace(IDS, "")) ?? [];
    const isContinuation = word === "…" || word === "..." || CONTINUES.has(word.toLowerCase());
    return isContinuation ? `"${title}" begins with "${word}": ${REMEDY}` : [];
  });

test("every title of a test begins with its subject or its verb", async () => {
  const tests = (await readSources(["test"])).filter(
    ({ path }) => path !== "test/architecture/titles.test.ts",
  );
  const found = tests.flatMap(({ path, text }) =>
    continuationsIn(text).map((problem) => `${path}: ${problem}`),
  );
  expect(found).toEqual([]);
});

test("a title that continues another text is found, also behind the ids of requirements", () => {
  const id = (number: number) => `AB-${number}`; // no whole id in this file, because those need a row under test/requirements
  const text = [
    'test("that matches is accepted", () => {});',
    `test("${id(1)} to ${id(3)}, ${id(5)}: without a key", () => {});`,
    `describe("${id(1)} ${id(2)} Of a user", () => {});`,
    'test.each(CASES)("… and %s", () => {});',
    `test("${id(1)} accepts a key that matches", () => {});`,
    `test("${id(1)} and ${id(2)} %s of a user", () => {});`,
    'test("offers nothing without a key", () => {});',
  ].join("\n");
  expect(continuationsIn(text)).toEqual([
    `"that matches is accepted" begins with "that": ${REMEDY}`,
    `"${id(1)} to ${id(3)}, ${id(5)}: without a key" begins with "without": ${REMEDY}`,
    `"${id(1)} ${id(2)} Of a user" begins with "Of": ${REMEDY}`,
    `"… and %s" begins with "…": ${REMEDY}`,
  ]);
});
