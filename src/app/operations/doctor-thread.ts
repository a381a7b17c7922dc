// The checks of doctor for a running service in a thread. The thread itself is doctor-worker.ts.
import { Worker } from "node:worker_threads";
import type { Config } from "../../platform/config/config.ts";
import type { ConfigInputs } from "../../platform/config/sources.ts";
import { resultOf } from "../../platform/task-thread.ts";
import { type DiagnoseOptions, diagnose } from "../doctor/diagnose.ts";
import type { Finding } from "../doctor/finding.ts";

/** Time limit, including the waits for unreachable external services. */
const DIAGNOSIS_WAIT_MS = 60_000;

/** @returns the findings of all checks except the deep ones, with freshly read settings */
export const diagnoseInThread = (config: Config): Promise<Finding[]> =>
  findingsOf({ inputs: config.sources(), deep: false }, AbortSignal.timeout(DIAGNOSIS_WAIT_MS));

/** @returns the findings of every check, which may take minutes; rejected when the signal is aborted */
export const examineInThread = (config: Config, signal: AbortSignal): Promise<Finding[]> =>
  findingsOf({ inputs: config.sources(), deep: true }, signal);

/** The input of the thread. */
export interface DoctorTask extends Pick<DiagnoseOptions, "deep"> {
  inputs: ConfigInputs;
}

async function findingsOf(task: DoctorTask, signal: AbortSignal): Promise<Finding[]> {
  const worker = new Worker(new URL("./doctor-worker.ts", import.meta.url), { workerData: task });
  return await resultOf<Finding[]>(worker, { signal });
}

/** Runs the checks in this thread. */
export const diagnoseHere = (
  options: Pick<DiagnoseOptions, "config" | "clock" | "ids" | "deep">,
): Promise<Finding[]> => diagnose({ ...options, startWatch: () => NO_WATCH });

const NO_WATCH = { advance: () => {}, [Symbol.dispose]: () => {} };
