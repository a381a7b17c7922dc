// `bun run test:standby`: two data directories, Litestream and a real S3 store. Under 200 reports a second, `kill -9` of the
// active machine's processes and a takeover by the other one, round after round; then an interruption between the machine and
// the store, and a takeover from a machine that is alive.
// Needs `litestream` 0.5 or 0.3.13 and `versitygw` on PATH, or at $LITESTREAM and $VERSITYGW (go install), which is why
// `bun run test` leaves it out. ROUNDS (20) and CUT_SECONDS (300) make it shorter.
import { requireVersitygw } from "../support/object-store/versitygw.ts";
import { prove, requireProgram } from "../support/proof.ts";
import { takeOverFromLiving } from "./both-alive.ts";
import { cutFromStore } from "./cut.ts";
import { killAlone } from "./killed-alone.ts";
import { REPORTS_PER_SECOND } from "./load.ts";
import { type Takeover, takeOverAgainAndAgain } from "./rounds.ts";
import { createStage } from "./stage.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 20);
/** what to run: `killed`, `takeover`, `living`; all of it by default */
const PARTS = (process.env.PARTS ?? "killed takeover living").split(" ");
const CUT_SECONDS = Number(process.env.CUT_SECONDS ?? 300);
/** A busy test machine answers some of them late. */
const RATE_MIN = 0.9 * REPORTS_PER_SECOND;
/** The limits that the product promises. */
const LOST_SECONDS_MAX = 1;
const AWAY_SECONDS_MAX = 60;

async function main(): Promise<void> {
  const programs = {
    litestream: requireProgram("litestream", "install 0.5 or 0.3.13"),
    versitygw: requireVersitygw(),
  };
  process.stdout.write(`litestream ${Bun.spawnSync([programs.litestream, "version"]).stdout}`);
  const failures: string[] = [];
  for (const supervisor of ["units", "service only"] as const) {
    if (!PARTS.includes("killed")) break;
    await using stage = await createStage({ ...programs, lease: false });
    failures.push(...(await killAlone(stage, supervisor, ROUNDS)));
  }
  for (const lease of [true, false]) {
    if (!PARTS.includes("takeover")) break;
    const name = lease ? "with the lease" : "without the lease";
    {
      await using stage = await createStage({ ...programs, lease });
      failures.push(...judge(name, await takeOverAgainAndAgain(stage, ROUNDS)));
    }
    {
      await using stage = await createStage({ ...programs, lease });
      failures.push(...(await cutFromStore(stage, CUT_SECONDS)).map((failure) => `${name}: ${failure}`));
    }
  }
  for (const separation of ["cut", "pause"] as const) {
    if (!PARTS.includes("living")) break;
    await using stage = await createStage({ ...programs, lease: true });
    failures.push(...(await takeOverFromLiving(stage, separation)));
  }
  for (const failure of failures) process.stdout.write(`FAILED  ${failure}\n`);
  if (failures.length > 0) throw new Error(`${failures.length} failures`);
}

function judge(name: string, rounds: readonly Takeover[]): string[] {
  const lost = rounds.map(({ lostSeconds }) => lostSeconds).toSorted(ascending);
  const away = rounds.map(({ awaySeconds }) => awaySeconds).toSorted(ascending);
  const rates = rounds.map(({ rate }) => rate).toSorted(ascending);
  const acknowledged = rounds.reduce((sum, round) => sum + round.acknowledged, 0);
  const missing = rounds.reduce((sum, round) => sum + round.lost, 0);
  process.stdout.write(
    `${name}: ${rounds.length} rounds, ${acknowledged} acknowledged reports, ${missing} lost\n  acknowledged in a second before the kill: ${spread(rates)}\n` +
      `  age of the oldest lost report, seconds: ${spread(lost)}\n  from the kill to the next acknowledged report, seconds: ${spread(away)}\n`,
  );
  return [
    ...((rates[0] ?? 0) < RATE_MIN
      ? [`${name}: only ${rates[0]?.toFixed(0)} reports a second in a round`]
      : []),
    ...((lost.at(-1) ?? 0) > LOST_SECONDS_MAX ? [`${name}: lost ${lost.at(-1)} seconds`] : []),
    ...((away.at(-1) ?? 0) > AWAY_SECONDS_MAX ? [`${name}: away for ${away.at(-1)} seconds`] : []),
    ...rounds.flatMap(({ faults }) => faults.map((fault) => `${name}: ${fault}`)),
  ];
}

const ascending = (one: number, other: number): number => one - other;
const spread = (sorted: readonly number[]): string => {
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return [
    ["least", at(0)],
    ["median", at(0.5)],
    ["90 %", at(0.9)],
    ["most", at(1)],
  ]
    .map(([word, value]) => `${word} ${Number(value).toFixed(2)}`)
    .join(", ");
};

await prove(main);
