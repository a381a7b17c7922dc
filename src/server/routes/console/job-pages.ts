// The jobs of the service in the console.
import { Type } from "@sinclair/typebox";
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import type { JobResult, JobView } from "../../../domain/system/jobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import type { Reader } from "../../console/reader.ts";
import {
  type ChangedJob,
  JOB_ACTIONS,
  JOBS_PATH,
  type JobAction,
  jobsPage,
  versionOf,
} from "../../console/system/jobs.tsx";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

/** Number of entries of each action to search for the last change of a job. */
const ENTRIES_READ = 100;

/** @returns functions that read jobs with their last changes by people */
function createReading({ domain: { jobs, auditLog } }: RouteContext) {
  const changesIn = (organizationId: string): ReadonlyMap<string, NamedEntry> => {
    const entries = (["job.pause", "job.resume"] as const).flatMap(
      (action) => auditLog.listByKey(organizationId, { action, limit: ENTRIES_READ }).items,
    );
    return new Map(entries.sort((one, other) => one.id - other.id).map((entry) => [entry.target, entry]));
  };

  return {
    list({ organizationId }: Reader): ChangedJob[] {
      const changes = changesIn(organizationId);
      return jobs.list().map((job) => ({ ...job, change: changes.get(job.name) }));
    },

    /** @returns a function that throws JobChanged unless the job has this version */
    expects:
      ({ organizationId }: Reader, version: string | undefined) =>
      (job: JobView): void => {
        const current = { ...job, change: changesIn(organizationId).get(job.name) };
        if (versionOf(current) !== version) throw new JobChanged(current);
      },
  };
}

/** Somebody paused or resumed the job after the page of the form was opened. */
class JobChanged extends DomainError {
  constructor(readonly job: ChangedJob) {
    super("conflict", "job.changed", "the job was changed after the page was opened");
  }
}

export function jobPages(context: RouteContext, console: Console) {
  const { router, domain } = context;
  const { list, expects } = createReading(context);

  return router
    .get(
      JOBS_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => jobsPage(list(reader))),
      pageRoute("showJobs", "Scheduled jobs with their last result and next run"),
    )
    .post(
      `${JOBS_PATH}/:name`,
      ({ request, body, params: { name } }) =>
        console.act(request, body, { needs: "administrator", back: JOBS_PATH }, async (reader) => {
          const act = JOB_ACTIONS.find((word) => word === body.act);
          if (act === undefined) throw noSuchAction();
          try {
            const answer = await domain.jobs[act](reader.actor, name, expects(reader, body.version));
            return { to: JOBS_PATH, notice: noticeOf(act, answer) };
          } catch (error) {
            if (!(error instanceof JobChanged)) throw error;
            return jobsPage(list(reader), { act, job: error.job });
          }
        }),
      {
        ...formRoute(
          formOf({ csrf: FormField, by: FormField, version: FormField, act: FormField }),
          formOperation("sendJobAction", "Runs, pauses or resumes a job"),
        ),
        params: Type.Object({ name: Type.String() }),
      },
    );
}

function noticeOf(act: JobAction, { changed, job: { name, state } }: JobResult): string {
  if (!changed) return `Nothing changed: ${name} is already ${state}.`;
  if (act === "run") return `${name} starts within two seconds.`;
  return act === "pause"
    ? `${name} is paused. A run in progress continues.`
    : `${name} is resumed. It runs immediately if a run is overdue.`;
}

const noSuchAction = (): DomainError =>
  new DomainError(
    "invalid",
    "job.no_such_action",
    "a job is run, paused or resumed; use a button of the list",
  );
