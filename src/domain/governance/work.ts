// What reading, judging and showing a policy costs in processor time, by name: a service has it done by a thread where a
// document is large, so that it goes on answering; a command does it at once. Each is a pure function of plain values.
import { adminConfigBytes, harnessConfigBytes, harnessConfigsBytes } from "./admin-view.ts";
import { exportedBytes } from "./export.ts";
import {
  compare,
  join,
  judgeExtensions,
  judgeFormer,
  judgeHarness,
  judgePolicy,
  judgeSection,
  type TimeIsOver,
} from "./judging.ts";

export interface GovernanceTasks {
  policy: typeof judgePolicy;
  extensions: typeof judgeExtensions;
  harness: typeof judgeHarness;
  former: typeof judgeFormer;
  section: typeof judgeSection;
  join: typeof join;
  compare: typeof compare;
  adminConfig: typeof adminConfigBytes;
  harnessConfig: typeof harnessConfigBytes;
  harnessConfigs: typeof harnessConfigsBytes;
  exported: typeof exportedBytes;
}

/** The functions themselves; those that read YAML ask whether the time is over. */
export type TaskTable<
  Tasks extends { [Name in keyof Tasks]: (request: never, read: TimeIsOver) => unknown },
> = {
  [Name in keyof Tasks]: (request: Parameters<Tasks[Name]>[0], read: TimeIsOver) => ReturnType<Tasks[Name]>;
};

export const GOVERNANCE_TASKS: TaskTable<GovernanceTasks> = {
  policy: judgePolicy,
  extensions: judgeExtensions,
  harness: judgeHarness,
  former: judgeFormer,
  section: judgeSection,
  join,
  compare,
  adminConfig: adminConfigBytes,
  harnessConfig: harnessConfigBytes,
  harnessConfigs: harnessConfigsBytes,
  exported: exportedBytes,
};

/** Does one task, at once or elsewhere. */
export type RunTask = <Name extends keyof GovernanceTasks>(
  name: Name,
  request: Parameters<GovernanceTasks[Name]>[0],
) => Promise<ReturnType<GovernanceTasks[Name]>>;

/** For commands, which nobody waits for meanwhile. */
export const runAtOnce: RunTask = async (name, request) => GOVERNANCE_TASKS[name](request, () => false);
