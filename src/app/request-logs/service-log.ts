// The request log of the running service: its queue, thread, metrics and shutdown.
import { Counter, Gauge, type Registry } from "prom-client";
import { DROP_CAUSES } from "../../domain/inference/log/model.ts";
import { RunningLog } from "../../domain/inference/log/writing/running-log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Installation, InstallationOptions } from "../installation/installation.ts";
import { startLogThread } from "./start-log-thread.ts";
import { usageFailure } from "./usage-failure.ts";
import { UsageTaking } from "./usage-taking.ts";

export interface ServiceLogOptions {
  directory: DataDirectory;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Registry;
}

/** @returns the log; its thread starts with the first row or search, so it never starts without gateway mode */
export function createServiceLog({ directory, config, clock, log, metrics }: ServiceLogOptions): RunningLog {
  const running = new RunningLog({
    file: directory.requestLogs,
    isEnabled: config.get("gateway.request_logs.enabled"),
    queueRowsMax: config.get("gateway.request_logs.queue_rows"),
    clock,
    log,
    startThread: startLogThread,
  });
  if (config.get("gateway.type") !== undefined) addLogMetrics(metrics, running);
  return running;
}

type Records = Pick<
  InstallationOptions,
  "requestLog" | "handOverUsage" | "isUsageCounter" | "onUsageFailure"
>;

/** @returns the record settings for the installation; without gateway mode a search reads the file but never creates it */
export const recordsOf = (
  requestLog: RunningLog,
  { config, log }: Pick<ServiceLogOptions, "config" | "log">,
): Records =>
  config.get("gateway.type") === undefined
    ? {}
    : {
        requestLog,
        handOverUsage: (deltas) => requestLog.handOverUsage(deltas),
        isUsageCounter: true,
        onUsageFailure: (error) => log.error("usage.not_written", usageFailure(error)),
      };

interface Keeping {
  undo: AsyncDisposableStack;
  requestLog: RunningLog;
  log: Log;
}

/** Continues the sums of today, and writes rows and sums before the database is closed. */
export async function keepRecords(
  { domain: { usage, usageIntake: intake }, directory }: Pick<Installation, "domain" | "directory">,
  { undo, requestLog, config, ids, log }: Keeping & { config: Config; ids: Ids },
): Promise<void> {
  undo.defer(() => requestLog.close());
  if (config.get("gateway.type") !== undefined) {
    const taking = new UsageTaking({ file: directory.requestLogs, requestLog, intake, ids, log });
    await taking.start();
    undo.defer(() => taking.stop());
  }
  usage.load();
  undo.defer(() => usage.flush());
}

/** Like `recordsOf`, for a process that leaves the counting of usage to the service. */
export const forwardingRecordsOf = (
  requestLog: RunningLog,
  { log }: Pick<ServiceLogOptions, "log">,
): Records => ({
  requestLog,
  handOverUsage: (deltas) => requestLog.handOverUsage(deltas),
  onUsageFailure: (error) => log.error("usage.not_handed_over", usageFailure(error)),
});

/** Like `keepRecords`, for such a process. With a broken file of the request log, budgets use the sums counted so far. */
export async function keepForwardingRecords(
  { domain: { usage } }: Pick<Installation, "domain">,
  { undo, requestLog, log, day }: Keeping & { day: number },
): Promise<void> {
  undo.defer(() => requestLog.close());
  const waiting = await requestLog.waitingUsage(day).catch((error: unknown) => {
    log.error("usage.not_read", usageFailure(error));
    return [];
  });
  usage.load(waiting);
  undo.defer(() => usage.flush());
}

/** Adds the number of waiting rows, and of dropped rows by cause. */
function addLogMetrics(metrics: Registry, running: RunningLog): void {
  new Gauge({
    name: "quartermaster_inference_log_queue_rows",
    help: "Rows of the request log that wait to be written",
    registers: [metrics],
    collect() {
      this.set(running.queueFigures().rows);
    },
  });
  new Counter({
    name: "quartermaster_inference_log_dropped_total",
    help: "Rows of the request log that were dropped, by cause",
    labelNames: ["cause"],
    registers: [metrics],
    collect() {
      const { dropped } = running.queueFigures();
      this.reset();
      for (const cause of DROP_CAUSES) this.inc({ cause }, dropped[cause]);
    },
  });
}
