// The jobs of the service in the console.
import { Type } from "@sinclair/typebox";
import type { JobAnswer } from "../../../domain/system/jobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import { JOB_ACTIONS, JOBS_PATH, type JobAction, jobsPage } from "../../console/system/jobs.tsx";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

/** @returns the page of the jobs and its form */
export function jobPages({ router, domain: { jobs } }: RouteContext, console: Console) {
  return router
    .get(
      JOBS_PATH,
      ({ request }) => console.show(request, "administrator", () => jobsPage(jobs.list())),
      pageRoute("showJobs", "Scheduled jobs with their last result and next run"),
    )
    .post(
      `${JOBS_PATH}/:name`,
      ({ request, body, params: { name } }) =>
        console.act(request, body, { needs: "administrator", back: JOBS_PATH }, async ({ actor }) => {
          const act = JOB_ACTIONS.find((word) => word === body.act);
          if (act === undefined) throw noSuchAction();
          return { to: JOBS_PATH, notice: noticeOf(act, await jobs[act](actor, name)) };
        }),
      {
        ...formRoute(
          formOf({ csrf: FormField, by: FormField, act: FormField }),
          formOperation("sendJobAction", "Runs, pauses or resumes a job"),
        ),
        params: Type.Object({ name: Type.String() }),
      },
    );
}

function noticeOf(act: JobAction, { changed, job: { name, state } }: JobAnswer): string {
  if (!changed) return `Nothing changed: ${name} is ${state} already.`;
  if (act === "run") return `${name} starts within two seconds.`;
  return act === "pause"
    ? `${name} is paused. A run in progress continues.`
    : `${name} is resumed. It runs at once if its time has passed.`;
}

const noSuchAction = (): DomainError =>
  new DomainError(
    "invalid",
    "job.no_such_action",
    "a job is run, paused or resumed; use a button of the list",
  );
