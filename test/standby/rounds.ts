// `kill -9` of the active machine under load, and a takeover by the other one, round after round.
import { join } from "node:path";
import { productCommand } from "../support/cli/executable.ts";
import { Load } from "./load.ts";
import type { Machine, Stage } from "./stage.ts";

export interface Takeover {
  acknowledged: number;
  lost: number;
  /** age of the oldest lost report at the kill; 0 if none was lost */
  lostSeconds: number;
  /** acknowledged reports a second before the kill */
  rate: number;
  /** from the kill to the next acknowledged report */
  awaySeconds: number;
  faults: string[];
}

/** A service that has just started compiles its code. */
const SETTLING_MS = 2_000;
const LOAD_MS = { min: 4_000, more: 3_000 };
const BACK_MS = 5_000;

export async function takeOverAgainAndAgain(stage: Stage, rounds: number): Promise<Takeover[]> {
  const results: Takeover[] = [];
  const [first, second] = stage.machines;
  let active = await stage.start(first);
  await using load = new Load(stage.site);
  for (let round = 1; round <= rounds; round += 1) {
    await Bun.sleep(SETTLING_MS);
    load.outcomes();
    const loadedMs = Date.now();
    await Bun.sleep(LOAD_MS.min + Math.random() * LOAD_MS.more);
    const rate = load.rateBetween(loadedMs, Date.now());
    const outcomes = load.outcomes();
    const passive = active.data === first ? second : first;
    const { result, next } = await takeOver(stage, load, { active, passive });
    active = next;
    results.push({ ...result, rate });
    const { lost, lostSeconds, awaySeconds, faults } = result;
    process.stdout.write(
      `  round ${round}: ${rate.toFixed(0)} reports a second (${outcomes}), lost ${lost} of ${lostSeconds.toFixed(2)} s, away for ${awaySeconds.toFixed(1)} s ${faults.join("; ")}\n`,
    );
  }
  await active.kill();
  return results;
}

async function takeOver(
  stage: Stage,
  load: Load,
  { active, passive }: { active: Machine; passive: string },
): Promise<{ result: Omit<Takeover, "rate">; next: Machine }> {
  await active.kill();
  const killedAtMs = Date.now();
  const faults: string[] = [];
  const confirm = ["--confirm", passive.split("/").at(-1) ?? ""];
  const off = stage.lease ? [] : ["--old-machine-is-off"];
  const taken = await command([
    "takeover",
    "--json",
    "--data-dir",
    passive,
    ...stage.settings,
    ...confirm,
    ...off,
  ]);
  if (taken.exitCode !== 0) throw new Error(`takeover: ${taken.stderr}`);
  const { acknowledged, lost, losers, oldestLostMs } = load.settle(
    join(passive, "quartermaster.db"),
    killedAtMs,
  );
  const next = await stage.start(passive);
  const backAtMs = await firstReport(load, killedAtMs);
  faults.push(...(await comeBack(stage, active.data, losers)));
  const lostSeconds = oldestLostMs === undefined ? 0 : (killedAtMs - oldestLostMs) / 1000;
  return {
    result: { acknowledged, lost, lostSeconds, awaySeconds: (backAtMs - killedAtMs) / 1000, faults },
    next,
  };
}

export async function firstReport(load: Load, afterMs: number): Promise<number> {
  const deadline = performance.now() + BACK_MS;
  for (;;) {
    const backAtMs = load.firstAfter(afterMs);
    if (backAtMs !== undefined) return backAtMs;
    if (performance.now() > deadline) throw new Error("no report was acknowledged after the takeover");
    await Bun.sleep(20);
  }
}

/**
 * The former machine must refuse to start on another port, and show the data that only this machine has.
 * @param losers workstations with a lost report, which are a part of it
 */
async function comeBack({ site, settings }: Stage, data: string, losers: number): Promise<string[]> {
  const args = [
    "serve",
    ...site.args.filter((word) => word !== "--server-listen" && !word.startsWith("127.0.0.1:")),
  ];
  const { exitCode, stderr } = await command([
    ...args,
    "--data-dir",
    data,
    ...settings,
    "--server-listen",
    "127.0.0.1:0",
  ]);
  const isRefused = exitCode === 4 && stderr.includes("accepts no change");
  const shown = Number(/(\d+) workstation reports?/.exec(stderr)?.[1] ?? 0);
  if (!isRefused) return [`the former machine ended with ${exitCode}: ${stderr.slice(-300)}`];
  return shown < losers
    ? [`the former machine shows ${shown} reports that the other one lacks, not ${losers}`]
    : [];
}

/** Waits without blocking, because the connection to the store is in this process. */
export async function command(
  args: readonly string[],
): Promise<{ stdout: string; stderr: string; exitCode: number }> {
  const child = Bun.spawn([...productCommand(), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 90_000,
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { stdout, stderr, exitCode: await child.exited };
}
