// The checks of doctor for a running service, without the deep ones, in a thread. The thread itself is doctor-worker.ts.
import { Worker } from "node:worker_threads";
import type { Config } from "../../platform/config/config.ts";
import { resultOf } from "../../platform/task-thread.ts";
import { type DiagnoseOptions, diagnose } from "../doctor/diagnose.ts";
import type { Finding } from "../doctor/finding.ts";

/** Includes the waits for outside services that do not answer. */
const DIAGNOSIS_WAIT_MS = 60_000;

/** @returns the findings of every check but the deep ones, with the settings as they are read now */
export async function diagnoseInThread(config: Config): Promise<Finding[]> {
  const worker = new Worker(new URL("./doctor-worker.ts", import.meta.url), { workerData: config.sources() });
  return await resultOf<Finding[]>(worker, { signal: AbortSignal.timeout(DIAGNOSIS_WAIT_MS) });
}

/** The same in this thread. */
export const diagnoseShallow = (
  options: Pick<DiagnoseOptions, "config" | "clock" | "ids">,
): Promise<Finding[]> => diagnose({ ...options, deep: false, startWatch: () => NO_WATCH });

const NO_WATCH = { advance: () => {}, [Symbol.dispose]: () => {} };
