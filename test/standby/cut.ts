// An interruption between the machine and the store. With the lease, the machine refuses changes before the lease ends, and accepts
// them again afterwards. Without it, nothing stops. In both cases nothing is lost, and `doctor` reports the problem.
import { join } from "node:path";
import { Load } from "./load.ts";
import { command } from "./rounds.ts";
import type { Stage } from "./stage.ts";

const LEASE_MS = 15_000;
/** In addition to the lease: one report in flight. */
const GRACE_MS = 1_000;
/** How long renewing and catching up may take afterwards. */
const AFTER_MS = 15_000;

/** @returns deviations from the description */
export async function cutFromStore(stage: Stage, seconds: number): Promise<string[]> {
  const [data] = stage.machines;
  const failures: string[] = [];
  const machine = await stage.start(data);
  await using load = new Load(stage.site);
  await Bun.sleep(5_000);
  const cutAtMs = Date.now();
  stage.link.cut();
  await Bun.sleep(LEASE_MS + GRACE_MS);
  const closedAtMs = Date.now();
  await Bun.sleep(seconds * 1000 - (closedAtMs - cutAtMs));
  const isAccepting = load.firstAfter(closedAtMs) !== undefined;
  if (stage.lease && isAccepting) failures.push("a report was acknowledged after the lease had ended");
  if (stage.lease && load.refused === 0) failures.push("no report was refused with 503");
  if (!stage.lease && load.refused > 0) failures.push("a report was refused, although there is no lease");
  if (!stage.lease && !isAccepting) failures.push("no report was acknowledged during the cut");
  const during = await command(["doctor", "--json", "--data-dir", data, ...stage.settings]);
  if (!hasFailed(during.stdout, "replica")) failures.push("doctor did not report the replica during the cut");
  const mendedAtMs = Date.now();
  stage.link.mend();
  await Bun.sleep(AFTER_MS);
  const backAtMs = load.firstAfter(mendedAtMs);
  if (backAtMs === undefined) failures.push("no report was acknowledged after the cut");
  const after = await command(["doctor", "--json", "--data-dir", data, ...stage.settings]);
  if (hasFailed(after.stdout, "replica")) failures.push(`doctor still reports the replica: ${after.stdout}`);
  await machine.kill();
  const { acknowledged, lost } = load.settle(join(data, "quartermaster.db"), Date.now());
  if (lost > 0) failures.push(`${lost} acknowledged reports are not on the machine`);
  process.stdout.write(
    `  cut for ${seconds} s: ${acknowledged} acknowledged, ${load.refused} refused with 503, accepted again ${((backAtMs ?? Number.NaN) - mendedAtMs) / 1000} s after it\n`,
  );
  return failures;
}

function hasFailed(document: string, name: string): boolean {
  const { checks }: { checks: { check: string; result: string }[] } = JSON.parse(document);
  return checks.some(({ check, result }) => check === name && result === "failed");
}
