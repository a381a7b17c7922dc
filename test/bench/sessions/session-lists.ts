// Lists of captured sessions among 100,000, compared with those among 1,000, in each mode and with each filter, for an
// administrator and a member.
import { join } from "node:path";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { atMost, type Figure } from "../figures.ts";
import { median } from "../tools/compare.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { type ListSite, MANY, startListSite } from "./session-list-site.ts";

const FEW = 1_000;
const RATIO_MAX = 3;
const ROUNDS = 15;
const PER_PAGE = 25;

/**
 * Required: at most three times. A text that every session has is counted session by session, because totals are exact;
 * a separate figure shows SQLite's own time for that.
 */
export async function* measureSessionLists(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using few = await startListSite(join(directory.path, "few"), FEW);
  await using many = await startListSite(join(directory.path, "many"), MANY);
  for (const caller of ["administrator", "member"] as const)
    for (const [what, queryOf] of Object.entries(LISTS)) {
      const request = { caller, queryOf };
      const reference: number[] = [];
      const ours: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        reference.push(await timeOf(few, request));
        ours.push(await timeOf(many, request));
      }
      const ratio = median(ours) / median(reference);
      yield {
        what: `${what}, ${caller}, ${MANY} sessions`,
        unit: "ms",
        ours: median(ours),
        reference: median(reference),
        ratio,
        verdict: atMost(RATIO_MAX, ratio),
      };
    }
  yield bareCount(join(directory.path, "few"), join(directory.path, "many"));
}

const COUNTED = "SELECT count(*) AS total FROM captured_sessions WHERE instr(search_text, 'project') > 0";

/** One statement that compares every text, on a separate connection. */
function bareCount(few: string, many: string): Figure {
  const timeIn = (directory: string): number => {
    using connection = openConnection(join(directory, "quartermaster.db"), { readonly: true });
    const counted = connection.prepare(COUNTED);
    const times = Array.from({ length: ROUNDS }, () => {
      const begin = performance.now();
      counted.get();
      return performance.now() - begin;
    });
    return median(times);
  };
  const [ours, reference] = [timeIn(many), timeIn(few)];
  const what = `count of a text of all by SQLite alone, ${MANY} sessions`;
  return { what, unit: "ms", ours, reference, ratio: ours / reference };
}

const TODAY = new Date().toISOString().slice(0, 10);

/** Path below `/session-uploads`. */
const LISTS: Readonly<Record<string, (site: ListSite) => string>> = {
  "first page": () => "?page=1",
  "deep page": ({ sessions }) => `?page=${sessions / 5 / PER_PAGE}`,
  "oldest first": () => "?sort=updated_asc",
  "behind a cursor": () => "?limit=50",
  portable: () => "?resumable=true",
  "rare text": () => "?q=needle+777+end",
  "two characters": () => "?q=zq",
  "text of all": () => "?q=project",
  "frequent harness": () => "?harness=codex&page=1",
  "rare harness": () => "?harness=kimi&page=1",
  "range of days": () => `?updated_from=2020-01-01&updated_to=${TODAY}`,
  "one owner": ({ ownerId }) => `?page=1&user_id=${ownerId}`,
  "with an old version": () => "?page=1&status=superseded",
  "with a pending version": () => "?page=1&status=pending",
  facets: () => "/facets",
};

interface Asked {
  caller: keyof ListSite["tokens"];
  queryOf: (site: ListSite) => string;
}

async function timeOf(site: ListSite, { caller, queryOf }: Asked): Promise<number> {
  const begin = performance.now();
  const headers = { authorization: `Bearer ${site.tokens[caller]}` };
  const answer = await fetch(`${site.origin}/session-uploads${queryOf(site)}`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return performance.now() - begin;
}
