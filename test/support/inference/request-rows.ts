// Rows of the request log for tests, and a running log with its real thread on a separate file.
import { join } from "node:path";
import { startLogThread } from "../../../src/app/request-logs/start-log-thread.ts";
import type { RequestRow } from "../../../src/domain/inference/log/record.ts";
import type { StartLogThread } from "../../../src/domain/inference/log/writing/log-client.ts";
import { RunningLog } from "../../../src/domain/inference/log/writing/running-log.ts";
import type { Log } from "../../../src/platform/observe/log.ts";
import { START_MS } from "../world.ts";

export const USER = "0190c5a8-0000-7000-8000-000000000001";
const ORGANIZATION = "0190c5a8-0000-7000-8000-0000000000ff";

/** @returns a row of a finished request; `number` determines its id and its time */
export const rowOf = (number: number, changes: Partial<RequestRow> = {}): RequestRow => ({
  id: `0190c5a8-1111-7000-8000-${String(number).padStart(12, "0")}`,
  userId: USER,
  organizationId: ORGANIZATION,
  profileId: "key-1",
  profileName: "ana",
  occurredAtMs: START_MS + number,
  method: "POST",
  path: "/chat/completions",
  model: "gpt-5",
  httpStatus: 200,
  upstreamLatencyMs: 120,
  harness: "codex",
  repository: "github.com/example/shop",
  branch: "main",
  commitSha: "0123abcd",
  dirty: false,
  runId: "run-1",
  claimed: true,
  requestId: `request-${number}`,
  durationMs: 900,
  firstByteMs: 150,
  requestBytes: 2_048,
  responseBytes: 4_096,
  stream: true,
  outcome: "complete",
  refusal: null,
  inputTokens: 1_000,
  outputTokens: 200,
  cacheReadTokens: 10,
  cacheWriteTokens: 20,
  usageSource: "reported",
  upstreamCost: 0.25,
  ...changes,
});

export interface LoggedEvent {
  level: "warning" | "error";
  event: string;
  fields: unknown;
}

/** @returns a log that records its lines */
export function keptLog(): { log: Pick<Log, "warning" | "error">; events: LoggedEvent[] } {
  const events: LoggedEvent[] = [];
  const keep =
    (level: LoggedEvent["level"]): Log["warning"] =>
    (event, fields) =>
      void events.push({ level, event, fields: typeof fields === "function" ? fields() : fields });
  return { log: { warning: keep("warning"), error: keep("error") }, events };
}

export interface TestLog extends AsyncDisposable {
  running: RunningLog;
  file: string;
  events: LoggedEvent[];
}

/** @returns a running log with its thread; `await using` closes it */
export function startTestLog(
  directory: string,
  {
    queueRowsMax = 10_000,
    startThread = startLogThread,
  }: { queueRowsMax?: number; startThread?: StartLogThread } = {},
): TestLog {
  const file = join(directory, "request-logs.db");
  const { log, events } = keptLog();
  const clock = { nowMs: () => START_MS };
  const running = new RunningLog({ file, isEnabled: true, queueRowsMax, clock, log, startThread });
  return { running, file, events, [Symbol.asyncDispose]: () => running.close() };
}

/** Waits until a condition is met, without its own time limit: the test has one. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(5);
}
