// The scheduled jobs: what each does, its last result, when it runs next, and the buttons that run, pause and resume it.
/** @jsxImportSource preact */

import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import type { JobView } from "../../../domain/system/jobs.ts";
import { MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { Empty } from "../list/first-step.tsx";
import { AsCommand, AsCommands } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { State, Text, Time, type Tone, useReader } from "../parts/values.tsx";
import { JOB_TEXTS } from "./words.ts";

export const JOBS_PATH = `${CONSOLE}/system/jobs`;
export const JOB_ACTIONS = ["run", "pause", "resume"] as const;
export type JobAction = (typeof JOB_ACTIONS)[number];

/** A job with the last audit entry about a pause or resumption. */
export interface ChangedJob extends JobView {
  change: NamedEntry | undefined;
}

/** @returns the version of a job for its forms: the last change by a person; runs do not count */
export const versionOf = ({ paused, change }: Pick<ChangedJob, "paused" | "change">): string =>
  `${change?.id ?? 0}-${paused ? "paused" : "active"}`;

/** @param refused an action on a job that was changed after the page was opened */
export const jobsPage = (
  jobs: readonly ChangedJob[],
  refused?: { act: JobAction; job: ChangedJob },
): ConsolePage => ({
  title: "Jobs",
  live: ["jobs"],
  ...(refused && { status: 409, isError: true }),
  content: (
    <>
      {refused && <Changed {...refused} />}
      <div id="jobs" data-region>
        {jobs.length === 0 ? (
          <Empty
            text="There are no jobs yet. The service creates them at its first start."
            command={["serve"]}
          />
        ) : (
          <Jobs jobs={jobs} />
        )}
      </div>
      <AsCommand command={["jobs", "list"]} api={{ method: "GET", path: "/admin/jobs" }} />
    </>
  ),
});

const ACTION_LABELS: Readonly<Record<JobAction, string>> = {
  run: "Run now",
  pause: "Pause",
  resume: "Resume",
};

/** Shows the author and both values, so that the reader can choose. */
const Changed = ({ act, job: { name, paused, change } }: { act: JobAction; job: ChangedJob }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      {change ? <Text value={change.actorLabel} /> : "Somebody"} {paused ? "paused" : "resumed"}{" "}
      <code>{name}</code>
      {change && (
        <>
          {" "}
          <Time at={change.atMs} />
        </>
      )}
      , after you opened this page. Your action, “{ACTION_LABELS[act]}”, was not performed.
    </p>
    <p>
      The job is {paused ? "paused" : "not paused"} now. <a href={`#row-${name}`}>Choose an action again</a>,
      or leave it as it is.
    </p>
  </div>
);

function Jobs({ jobs }: { jobs: readonly ChangedJob[] }) {
  const { mayAdminister } = useReader();
  return (
    <table class="rows">
      <caption class="visually-hidden">Jobs by name</caption>
      <TableHead
        labels={["Job", "State", "Last result", "Took", "Next run", ...(mayAdminister ? ["Actions"] : [])]}
      />
      <tbody>
        {jobs.map((job) => (
          <tr key={job.name} id={`row-${job.name}`}>
            <td data-label="Job">
              <code>{job.name}</code>
              <div class="muted">{JOB_TEXTS.get(job.name)}</div>
            </td>
            <td data-label="State">
              <JobState job={job} />
            </td>
            <td data-label="Last result">
              <LastResult job={job} />
            </td>
            <td data-label="Took">
              <Text value={durationText(job)} />
            </td>
            <td data-label="Next run">
              {job.paused ? <span class="muted">not while paused</span> : <Time at={job.nextRunAtMs} />}
            </td>
            {mayAdminister && (
              <td data-label="Actions">
                <Actions job={job} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const STATES: Readonly<Record<JobView["state"], [Tone, string]>> = {
  running: ["neutral", "Running"],
  paused: ["attention", "Paused"],
  due: ["neutral", "Due"],
  waiting: ["good", "Waiting"],
};

function JobState({ job: { state, paused } }: { job: JobView }) {
  const [tone, word] = STATES[state];
  return <State tone={tone}>{paused && state === "running" ? "Running, then paused" : word}</State>;
}

function LastResult({ job: { finishedAtMs, outcome, error } }: { job: JobView }) {
  if (finishedAtMs === null || outcome === null) return <span class="muted">has not run yet</span>;
  return (
    <>
      <State tone={outcome === "succeeded" ? "good" : "bad"}>
        {outcome === "succeeded" ? "Succeeded" : "Failed"}
      </State>{" "}
      <Time at={finishedAtMs} />
      {error !== null && (
        <div>
          <Text value={error} />
        </div>
      )}
    </>
  );
}

/** @returns how long the last complete run took */
function durationText({ startedAtMs, finishedAtMs }: JobView): string | null {
  if (startedAtMs === null || finishedAtMs === null || finishedAtMs < startedAtMs) return null;
  const ms = finishedAtMs - startedAtMs;
  if (ms < SECOND_MS) return `${ms}\u00a0ms`;
  return ms < MINUTE_MS ? `${Math.round(ms / SECOND_MS)}\u00a0s` : `${Math.round(ms / MINUTE_MS)}\u00a0min`;
}

/** A job that cannot run shows the reason instead of its next run. */
function Actions({ job }: { job: ChangedJob }) {
  const { name, state, paused } = job;
  const actions: readonly JobAction[] = [
    ...(state === "waiting" ? (["run"] as const) : []),
    paused ? "resume" : "pause",
  ];
  return (
    <>
      <ConsoleForm action={`${JOBS_PATH}/${name}`} class="choices">
        <Hidden name="version" value={versionOf(job)} />
        {actions.map((act) => (
          <button
            key={act}
            class="button quiet"
            name="act"
            value={act}
            type="submit"
            aria-label={`${ACTION_LABELS[act]}: ${name}`}
          >
            {ACTION_LABELS[act]}
          </button>
        ))}
      </ConsoleForm>
      <AsCommands
        actions={actions.map((act) => ({
          command: ["jobs", act, name],
          api: { method: "POST", path: `/admin/jobs/${name}/${act}` },
        }))}
      />
    </>
  );
}
