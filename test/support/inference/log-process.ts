// A separate process with a running request log, for tests that kill it or fill its disk. Arguments: the file, the number of rows
// to hand over first, and the capacity of the queue. Afterwards it hands over a row every millisecond, and prints its figures as
// lines.
import { startLogThread } from "../../../src/app/request-logs/start-log-thread.ts";
import { RunningLog } from "../../../src/domain/inference/log/writing/running-log.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { rowOf } from "./request-rows.ts";

const [file = "", first = "0", room = "10000"] = process.argv.slice(2);
const running = new RunningLog({
  file,
  isEnabled: true,
  queueRowsMax: Number(room),
  clock: systemClock,
  log: { warning: () => {}, error: () => {} },
  startThread: startLogThread,
});

let handed = 0;
while (handed < Number(first)) {
  while (running.queueFigures().rows < Number(room) && handed < Number(first)) running.add(rowOf(handed++));
  await Bun.sleep(1);
}
while (running.queueFigures().rows > 0) await Bun.sleep(1);
for (;;) {
  running.add(rowOf(handed++));
  process.stdout.write(`${JSON.stringify({ handed, ...running.queueFigures() })}\n`);
  await Bun.sleep(1);
}
