// A separate process that reads rows, seen values and figures from the thread of the request log, and prints them as
// one line. Argument: the file.
import { startLogThread } from "../../../src/app/request-logs/start-log-thread.ts";
import { RunningLog } from "../../../src/domain/inference/log/writing/running-log.ts";
import { systemClock } from "../../../src/platform/clock.ts";

const running = new RunningLog({
  file: process.argv[2] ?? "",
  isEnabled: true,
  queueRowsMax: 1,
  clock: systemClock,
  log: { warning: () => {}, error: () => {} },
  startThread: startLogThread,
});
const search = { filter: {}, sort: "occurred_asc", offset: 0, limit: 1 } as const;
const answers = [await running.search(search), await running.seen(0), await running.figures(0)];
process.stdout.write(JSON.stringify(answers));
await running.close();
