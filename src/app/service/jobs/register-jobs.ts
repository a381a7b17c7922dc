// All background jobs of the running service. Each file of this folder has the jobs of one area.
import type { Registry } from "prom-client";
import type { RunningLog } from "../../../domain/inference/log/writing/running-log.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";
import { registerBackupJob, registerReplacedJob } from "../../backup/jobs.ts";
import type { Installation } from "../../installation/installation.ts";
import type { ServiceStandby } from "../../standby/service-standby.ts";
import { registerKeyAndLoginJobs } from "./access-jobs.ts";
import { registerArtifactJob } from "./artifact-jobs.ts";
import { registerAuditJob, registerForwardingJob } from "./audit-jobs.ts";
import { registerClientJobs } from "./client-jobs.ts";
import { registerGatewayJob } from "./gateway-jobs.ts";
import { registerIdentityJobs } from "./identity-jobs.ts";
import { registerModelJob } from "./model-jobs.ts";
import { registerPolicyJobs } from "./policy-jobs.ts";
import { registerRequestLogJob } from "./request-log-jobs.ts";
import { registerSessionJobs } from "./session-jobs.ts";
import { registerSourceJob } from "./source-jobs.ts";

export interface JobParts {
  clock: Clock;
  config: Config;
  log: Log;
  metrics: Registry;
  actor: Actor;
  requestLog: RunningLog;
  deviceLoginsExpired(total: number): void;
  standby: Pick<ServiceStandby, "watch">;
}

/** Registers every job of the running service. */
export function registerJobs(scheduler: Scheduler, installation: Installation, parts: JobParts): void {
  const { domain } = installation;
  registerKeyAndLoginJobs(scheduler, domain, parts);
  registerGatewayJob(scheduler, domain);
  registerModelJob(scheduler, domain, parts);
  registerClientJobs(scheduler, domain, parts);
  registerIdentityJobs(scheduler, domain, parts);
  registerPolicyJobs(scheduler, domain, parts);
  registerSessionJobs(scheduler, domain, parts);
  registerRequestLogJob(scheduler, installation, parts);
  registerForwardingJob(scheduler, domain, parts);
  registerAuditJob(scheduler, domain, parts);
  registerArtifactJob(scheduler, domain, parts);
  registerSourceJob(scheduler, domain, parts);
  registerBackupJob(scheduler, installation, parts);
  registerReplacedJob(scheduler, installation, parts);
  parts.standby.watch(scheduler, domain, parts.metrics);
}
