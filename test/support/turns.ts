// Measures the turns of a service's event loop during some work: see turns-probe.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OPTIMIZED } from "./cli/executable.ts";

const PROBE = join(import.meta.dir, "turns-probe.ts");
/** the probe records a turn during the next one */
const WRITTEN_WITHIN_MS = 20;

export interface Turns {
  /** for the service */
  env: Readonly<Record<string, string>>;
  /** @returns the longest turn in the meantime, in milliseconds of processor time; 0 if all were short */
  longest(work: () => Promise<unknown>): Promise<number>;
}

/** @param directory for the file that the probe writes to */
export function watchTurns(directory: string): Turns {
  const file = join(directory, "turns");
  writeFileSync(file, "");
  return {
    env: { ...OPTIMIZED, BUN_OPTIONS: `--preload=${PROBE}`, TURNS_FILE: file },
    async longest(work) {
      await Bun.sleep(WRITTEN_WITHIN_MS);
      const before = readFileSync(file, "utf8").length;
      await work();
      await Bun.sleep(WRITTEN_WITHIN_MS);
      return Math.max(0, ...readFileSync(file, "utf8").slice(before).split("\n").map(Number));
    },
  };
}
