// Reads the requirements under test/requirements: tables with one row for each id.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { ROOT } from "../support/source.ts";

const REQUIREMENTS = join(ROOT, "test/requirements");
const ROW = /^\| (?<id>[A-Z]+-\d+) (?<weight>[MS]) +\| .+ +\|$/gm;
/** one id, or a range with the words "A to B" */
const IDS = /\b([A-Z]+)-(\d+)(?: to \1-(\d+))?\b/g;
/** Names of algorithms and encodings that look like an id. */
const OTHER_NAMES = new Set(["AES", "SHA", "UTF"]);

/** @returns the rows of a table; an M is a must */
export const rowsIn = (text: string): { id: string; isMust: boolean }[] =>
  [...text.matchAll(ROW)].map(({ groups }) => ({ id: groups?.id ?? "", isMust: groups?.weight === "M" }));

/** @returns the ids that a text names, with every id of a range */
export const idsIn = (text: string): string[] =>
  [...text.matchAll(IDS)].flatMap(([, kind = "", first, last]) => {
    if (OTHER_NAMES.has(kind)) return [];
    const count = last === undefined ? 1 : Number(last) - Number(first) + 1;
    return Array.from({ length: count }, (_, at) => `${kind}-${Number(first) + at}`);
  });

/** every row under test/requirements */
export const rows = [...new Glob("*.md").scanSync(REQUIREMENTS)].flatMap((file) =>
  rowsIn(readFileSync(join(REQUIREMENTS, file), "utf8")),
);
