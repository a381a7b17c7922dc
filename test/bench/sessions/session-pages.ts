// The console's list of captured sessions among 100,000: whole responses, their size, turns of the event loop, and the export of
// all rows.
import { watchTurns } from "../../support/turns.ts";
import { budgeted, type Figure } from "../figures.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { type ListSite, MANY, startListSite } from "./session-list-site.ts";

const KB = 1_024;
const ANSWER_MS = 60;
const TURN_MS = 20;
const HTML_KB = 60;
const WARM_UPS = 5;
const TIMES = 40;

/** Sizes of the list with 100 rows. */
const LISTS: Readonly<Record<string, string>> = {
  "first page": "",
  "deep page": "&page=100",
  "oldest first": "&sort=updated",
  "rare text": "&q=needle+777+end",
  harness: "&harness=codex",
  "own only": "&whose=mine",
};

/** CON-130, CON-132 and CON-133 set the limits. */
export async function* measureSessionPages(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const turns = watchTurns(directory.path);
  await using site = await startListSite(`${directory.path}/many`, MANY, turns.env);
  await measureResponses(site, "administrator", ""); // compiles code that the others use
  for (const who of ["administrator", "member"] as const)
    for (const [what, query] of Object.entries(LISTS)) {
      const measured = { late: Number.NaN, bytes: 0 };
      const turn = await turns.longest(async () => {
        Object.assign(measured, await measureResponses(site, who, query));
      });
      const { late, bytes } = measured;
      const of = `sessions, ${what}, ${who}`;
      yield { what: `${of}, p95`, unit: "ms", ours: late, verdict: budgeted(ANSWER_MS, late) };
      yield { what: `${of}, longest turn`, unit: "ms", ours: turn, verdict: budgeted(TURN_MS, turn) };
      yield { what: `${of}, HTML`, unit: "KB", ours: bytes / KB, verdict: budgeted(HTML_KB, bytes / KB) };
    }
  yield* await measureFile(site, turns.longest);
}

async function measureResponses(
  { origin, cookies }: ListSite,
  who: keyof ListSite["cookies"],
  query: string,
) {
  const times: number[] = [];
  let bytes = 0;
  for (let visit = 0; visit < WARM_UPS + TIMES; visit++) {
    const begin = performance.now();
    const headers = { cookie: cookies[who] };
    const answer = await fetch(`${origin}/console/sessions?per_page=100${query}`, { headers });
    bytes = (await answer.bytes()).byteLength;
    if (answer.status !== 200) throw new Error(`${query} was answered with ${answer.status}`);
    if (visit >= WARM_UPS) times.push(performance.now() - begin);
  }
  const late = times.toSorted((one, other) => one - other)[Math.floor(0.95 * TIMES) - 1] ?? Number.NaN;
  return { late, bytes };
}

async function measureFile(
  { origin, cookies }: ListSite,
  longest: (work: () => Promise<unknown>) => Promise<number>,
): Promise<Figure[]> {
  let lines = 0;
  let seconds = 0;
  const turn = await longest(async () => {
    const begin = performance.now();
    const answer = await fetch(`${origin}/console/sessions.csv`, {
      headers: { cookie: cookies.administrator },
    });
    for await (const chunk of answer.body ?? []) for (const byte of chunk) if (byte === 0x0a) lines += 1;
    seconds = (performance.now() - begin) / 1_000;
  });
  return [
    { what: "CON-24 sessions.csv, rows", unit: "rows", ours: lines - 1 },
    { what: "CON-24 sessions.csv", unit: "s", ours: seconds },
    { what: "CON-24 sessions.csv, longest turn", unit: "ms", ours: turn, verdict: budgeted(TURN_MS, turn) },
  ];
}
