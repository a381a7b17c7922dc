// The command line as a separate process that stops when it first reads the clock, until it gets a line on standard
// input. A test can therefore act during the start of the command on any machine.
import { readSync } from "node:fs";
import { processContext } from "../../../cli/context.ts";
import { run } from "../../../cli/program.ts";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";

const STANDARD_INPUT = 0;
let isHeld = true;

const clock: Clock = {
  nowMs() {
    if (isHeld) readSync(STANDARD_INPUT, new Uint8Array(1));
    isHeld = false;
    return systemClock.nowMs();
  },
};

process.exit(await run(process.argv.slice(2), Object.assign(processContext(), { clock })));
