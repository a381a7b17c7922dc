// Entry point of the thread that runs the checks of doctor for a running service, which keeps answering requests.
import { workerData } from "node:worker_threads";
import { systemClock } from "../../platform/clock.ts";
import { loadConfig } from "../../platform/config/config.ts";
import { systemIds } from "../../platform/ids.ts";
import { respondLater } from "../../platform/task-thread.ts";
import { type DoctorTask, diagnoseHere } from "./doctor-thread.ts";

const { inputs, deep }: DoctorTask = workerData;
void respondLater(() =>
  diagnoseHere({ config: loadConfig(inputs), clock: systemClock, ids: systemIds, deep }),
);
