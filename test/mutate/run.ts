// `bun run mutate [seed=N] [count=N] [place=NAME] [jobs=N] [goal=PERCENT]`: makes small random changes, one at a time,
// in files whose mistakes would cause harm, and prints which of them the tests detect. The exit code is 1 below the
// goal. Stryker was considered: there is no maintained runner for Bun, its command runner needs Node as well, runs one
// command for all files and takes no sample.
import { type Candidate, candidatesIn, isEquivalent, squeezed } from "./candidates.ts";
import { Coverage } from "./coverage.ts";
import { PLACES } from "./places.ts";
import { closeWorkplacesAtExit, Workplace } from "./workplace.ts";

const OPTIONS = { seed: 1, count: 60, jobs: 1, goal: 95 };

function readArguments(given: readonly string[]) {
  const options = { ...OPTIONS };
  let placeNames = Object.keys(PLACES);
  for (const argument of given) {
    const [name = "", value = ""] = argument.split("=");
    if (name === "place" && value in PLACES) placeNames = [value];
    else if (
      (name === "seed" || name === "count" || name === "jobs" || name === "goal") &&
      /^\d{1,9}$/.test(value)
    )
      options[name] = Number(value);
    else return usage(argument);
  }
  return { ...options, placeNames };
}

function usage(wrong: string): never {
  console.error(
    `cannot read ${wrong}; options: seed=1 count=60 jobs=1 goal=95 place=NAME, one of ${Object.keys(PLACES).join(", ")}`,
  );
  process.exit(2);
}

/** The same seed gives the same sample of the same tree. */
function sampleOf(
  candidates: readonly Candidate[],
  { seed, count }: { seed: number; count: number },
): Candidate[] {
  const rankOf = ({ file, mutation: { kind, start, text } }: Candidate) =>
    Bun.hash(JSON.stringify([file, kind, start, text]), BigInt(seed));
  const ranked = candidates.map((candidate) => ({ candidate, rank: rankOf(candidate) }));
  ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ candidate }) => candidate);
}

async function measuredTests(sample: readonly Candidate[]): Promise<Coverage> {
  using workplace = new Workplace();
  const coverage = new Coverage();
  for (const { tests } of new Set(sample.map(({ place }) => place))) {
    const failing = await coverage.measure(workplace, tests);
    if (failing.length === 0) continue;
    console.error(`the tests fail without any change: ${failing.join(" ")}`);
    process.exit(2);
  }
  return coverage;
}

function lineOf({ placeName, file, mutation, before }: Candidate, isCaught: boolean): string {
  const verdict = isCaught ? "caught  " : "SURVIVED";
  const [from, to] = [before, mutation.text].map((text) => squeezed(text).slice(0, 100));
  return `${verdict} ${placeName.padEnd(9)} ${file}:${mutation.line} ${mutation.kind}: ${from} -> ${to}`;
}

/** @returns the number of detected mutations */
async function tryAll(sample: readonly Candidate[], jobs: number): Promise<number> {
  const coverage = await measuredTests(sample);
  const waiting = [...sample];
  let caught = 0;
  const work = async (): Promise<void> => {
    using workplace = new Workplace();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const groups = coverage.groupsFor(next.place.tests, next);
      const isCaught = await workplace.isCaught(next.file, next.mutation, groups);
      caught += isCaught ? 1 : 0;
      console.log(lineOf(next, isCaught));
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return caught;
}

closeWorkplacesAtExit();
const { placeNames, jobs, goal, ...options } = readArguments(process.argv.slice(2));
const candidates = candidatesIn(placeNames).filter((candidate) => !isEquivalent(candidate));
const sample = sampleOf(candidates, options);
const caught = await tryAll(sample, jobs);
const seconds = Math.round(performance.now() / 1000);
const percent = (100 * caught) / Math.max(1, sample.length);
console.log(
  `${caught} of ${sample.length} caught (${percent.toFixed(1)} %, wanted ${goal} %), of ${candidates.length} possible, seed ${options.seed}, ${seconds} s`,
);
process.exit(percent >= goal ? 0 : 1);
