// `jobs list`, `run`, `pause` and `resume`. Only the service runs jobs, so these verbs warn if no service is running.
import { jobChangeDocument, jobDocument } from "../../../src/domain/system/job-document.ts";
import type { JobResult, JobView } from "../../../src/domain/system/jobs.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isServiceRunning } from "../../data-directory/service-state.ts";
import { colorOf } from "../../output/color.ts";
import { dateOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

const COLUMNS: readonly Column<JobView>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "STATE", value: ({ state }) => state, color: ({ state }) => colorOf(state) },
  { header: "NEXT RUN", value: ({ nextRunAtMs }) => dateOf(nextRunAtMs) },
  { header: "LAST RUN", value: ({ finishedAtMs }) => dateOf(finishedAtMs) },
  { header: "OUTCOME", value: ({ outcome }) => outcome, color: ({ outcome }) => colorOf(outcome) },
  { header: "ERROR", value: ({ error }) => error },
  { header: "STARTED", value: ({ startedAtMs }) => dateOf(startedAtMs), isWide: true },
];

export async function list(call: Call): Promise<void> {
  const { domain, output } = call;
  const runs = isServiceRunning(call);
  if (!runs) output.note(`${NO_SERVICE}, so no job will run`);
  const more = { service_running: runs };
  output.list(domain.jobs.list(), { columns: COLUMNS, json: jobDocument, empty: "no jobs" }, more);
}

export async function run(call: Call): Promise<void> {
  const { domain, actor, output, args } = call;
  const change = await domain.jobs.run(actor, args[0] ?? "");
  const { name, state } = change.job;
  const runs = isServiceRunning(call);
  report(call, change, change.changed ? `${name} is due now` : `unchanged: ${name} is ${state}`);
  if (!runs) output.warning(`${NO_SERVICE}; ${name} will run when a service starts`);
}

export async function pause(call: Call): Promise<void> {
  const change = await call.domain.jobs.pause(call.actor, call.args[0] ?? "");
  const { name } = change.job;
  report(call, change, change.changed ? `paused ${name}` : `unchanged: ${name} is paused`);
}

export async function resume(call: Call): Promise<void> {
  const change = await call.domain.jobs.resume(call.actor, call.args[0] ?? "");
  const { name } = change.job;
  report(call, change, change.changed ? `resumed ${name}` : `unchanged: ${name} is not paused`);
}

const NO_SERVICE = "no service runs on this data directory";

const report = ({ output }: Call, change: JobResult, text: string): void =>
  output.result(jobChangeDocument(change), text);
