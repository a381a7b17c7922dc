// The request log of the running service: its queue, its thread, its metrics and its place in the stop.
import { Counter, Gauge, type Registry } from "prom-client";
import { DROP_CAUSES } from "../../domain/inference/log/model.ts";
import { RunningLog } from "../../domain/inference/log/writing/running-log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Installation, InstallationOptions } from "../installation/installation.ts";
import { startLogThread } from "./start-log-thread.ts";

export interface ServiceLogOptions {
  directory: DataDirectory;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Registry;
}

/** @returns the log; its thread starts with the first row or search, and so never without gateway mode */
export function createServiceLog({ directory, config, clock, log, metrics }: ServiceLogOptions): RunningLog {
  const running = new RunningLog({
    file: directory.requestLogs,
    isEnabled: config.get("gateway.request_logs.enabled"),
    queueRowsMax: config.get("gateway.request_logs.queue_rows"),
    ...{ clock, log, startThread: startLogThread },
  });
  if (config.get("gateway.type") !== undefined) addLogFigures(metrics, running);
  return running;
}

/** @returns what the installation needs for its records; without gateway mode a search reads the file, and creates none */
export const recordsOf = (
  requestLog: RunningLog,
  { config, log }: Pick<ServiceLogOptions, "config" | "log">,
): Pick<InstallationOptions, "requestLog" | "onUsageFailure"> => ({
  requestLog: config.get("gateway.type") === undefined ? undefined : requestLog,
  onUsageFailure: (error) => log.error("usage.not_written", { error }),
});

/** Continues the sums of today, and has rows and sums written before the database is closed. */
export function keepRecords(
  { domain: { usage } }: Pick<Installation, "domain">,
  { undo, requestLog }: { undo: AsyncDisposableStack; requestLog: RunningLog },
): void {
  usage.load();
  undo.defer(() => requestLog.close());
  undo.defer(() => usage.flush());
}

/** Adds the rows that wait, and those that were dropped, by cause. */
function addLogFigures(metrics: Registry, running: RunningLog): void {
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
