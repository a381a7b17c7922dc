// API for the scheduled jobs of the service. The service starts a job that is due within two seconds.
import { Type } from "@sinclair/typebox";
import { JobChange, JobList, jobChangeDocument, jobDocument } from "../../../domain/system/job-document.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const JobPath = Type.Object({ name: Type.String() });
const describe = operationsOf("Administration");
const changed = { 200: { description: "The job after the change", schema: JobChange } };
const described = {
  list: describe("listJobs", "Scheduled jobs by name", { 200: { description: "All jobs", schema: JobList } }),
  run: describe("runJob", "Make a job due now", { ...changed, 409: { description: "The job is paused" } }),
  pause: describe("pauseJob", "Keep a job from starting; a run in progress continues", changed),
  resume: describe("resumeJob", "Let a paused job run again", changed),
};

export function jobRoutes({ router, domain: { jobs } }: RouteContext) {
  return router
    .get("/admin/jobs", () => json({ items: jobs.list().map(jobDocument) }), {
      requires: "administrator",
      detail: described.list,
    })
    .post(
      "/admin/jobs/:name/run",
      async ({ request, params }) => json(jobChangeDocument(await jobs.run(actorOf(request), params.name))),
      { requires: "administrator", accepts: "nothing", params: JobPath, detail: described.run },
    )
    .post(
      "/admin/jobs/:name/pause",
      async ({ request, params }) => json(jobChangeDocument(await jobs.pause(actorOf(request), params.name))),
      { requires: "administrator", accepts: "nothing", params: JobPath, detail: described.pause },
    )
    .post(
      "/admin/jobs/:name/resume",
      async ({ request, params }) =>
        json(jobChangeDocument(await jobs.resume(actorOf(request), params.name))),
      { requires: "administrator", accepts: "nothing", params: JobPath, detail: described.resume },
    );
}
