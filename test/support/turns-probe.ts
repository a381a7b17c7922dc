// Loaded into a service under test before its own code: records every long turn of its event loop, in processor time of the main
// thread, so that other threads and processes do not count.
import { appendFileSync, readFileSync } from "node:fs";

const STATISTICS = `/proc/self/task/${process.pid}/schedstat`;
const WRITTEN_FROM_MS = 4;

const processorMs = (): number => Number(readFileSync(STATISTICS, "utf8").split(" ")[0]) / 1e6;

const file = process.env.TURNS_FILE;
if (file !== undefined) {
  let lastMs = processorMs();
  setInterval(() => {
    const nowMs = processorMs();
    if (nowMs - lastMs > WRITTEN_FROM_MS) appendFileSync(file, `${(nowMs - lastMs).toFixed(1)}\n`);
    lastMs = nowMs;
  }, 1).unref();
}
