// Two machines that are alive at the same time. The active machine loses the store, or is paused like a virtual machine, and the
// other one takes over. The former machine must not acknowledge a report after the first one that the other acknowledges, and must
// refuse changes when it is back.
import { EXIT } from "../../cli/exit.ts";
import { freePort } from "../support/network/free-port.ts";
import { Load } from "./load.ts";
import { command, firstReport } from "./rounds.ts";
import type { Machine, Stage } from "./stage.ts";

/** How the active machine is separated from the store. */
export type Separation = "cut" | "pause";

const LOADED_MS = 5_000;
/** A former machine that is back has time for several renewals of its lease. */
const BOTH_MS = 20_000;

/** @returns deviations from the description */
export async function takeOverFromLiving(stage: Stage, separation: Separation): Promise<string[]> {
  const [data, other] = stage.machines;
  await using former = await stage.start(data);
  await using load = new Load(stage.site);
  await Bun.sleep(LOADED_MS);
  const rejoin = separate(stage, former, separation);
  const separatedAtMs = Date.now();
  const port = freePort();
  const args = ["--data-dir", other, ...stage.direct];
  const taken = await command(["takeover", "--json", ...args]);
  if (taken.exitCode !== 0) throw new Error(`takeover: ${taken.stderr}`);
  await using _next = await stage.start(other, { settings: stage.direct, port });
  const startedAtMs = Date.now();
  await using otherLoad = new Load({ ...stage.site, baseUrl: `http://127.0.0.1:${port}` });
  const takenAtMs = await firstReport(otherLoad, startedAtMs);
  await Bun.sleep(BOTH_MS);
  rejoin();
  await Bun.sleep(BOTH_MS);
  const failures: string[] = [];
  if (load.firstAfter(takenAtMs) !== undefined)
    failures.push("the former machine acknowledged a report after the other one");
  // A machine that was paused ends as soon as it runs again, often before a report reaches it.
  if (separation === "cut" && load.refused === 0) failures.push("the former machine never refused a report");
  const exitCode = await Promise.race([former.service.ended(), Bun.sleep(0)]);
  if (exitCode !== EXIT.conflict)
    failures.push(`the former machine did not end with ${EXIT.conflict}, but ${exitCode}`);
  if (otherLoad.firstAfter(takenAtMs + 2 * BOTH_MS - LOADED_MS) === undefined)
    failures.push("the other machine did not go on");
  const lastMs = load.lastBefore(takenAtMs) ?? Number.NaN;
  process.stdout.write(
    `  ${separation}: the former machine acknowledged until ${seconds(lastMs - separatedAtMs)}, the other one from ${seconds(takenAtMs - separatedAtMs)}; ${load.refused} refused with 503\n`,
  );
  return failures.map((failure) => `${separation}: ${failure}`);
}

/** @returns a function that ends it */
function separate({ link }: Stage, { service }: Machine, separation: Separation): () => void {
  if (separation === "cut") {
    link.cut();
    return () => link.mend();
  }
  service.signal("SIGSTOP");
  return () => service.signal("SIGCONT");
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
