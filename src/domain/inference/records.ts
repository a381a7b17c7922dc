// Assembles the records of inference: the request log, and the daily sums of usage with their budgets.
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Identity } from "../identity/service.ts";
import { LogIntake } from "./log/intake.ts";
import { type RequestLogOptions, RequestLogs } from "./log/request-logs.ts";
import { UsageIntake } from "./usage/usage-intake.ts";
import { UsageReports } from "./usage/usage-report.ts";
import { type DailyBudgets, type FlushUsage, UsageSums } from "./usage/usage-sums.ts";

export interface RecordsOptions {
  requestLog: RequestLogOptions;
  budgets: DailyBudgets;
  /** passes sums of usage to the service for counting; default: they go to the database */
  handOverUsage?: FlushUsage | undefined;
  /** whether this process counts sums that it cannot pass on */
  isUsageCounter?: boolean | undefined;
  /** called with the reason why sums of usage could not be written yet */
  onUsageFailure?: ((error: unknown) => void) | undefined;
}

interface RecordsDependencies extends RecordsOptions {
  db: Db;
  clock: Clock;
  identity: Pick<Identity, "users" | "organization" | "findUserById">;
}

/** Called once, in domain.ts. */
export function createRecords(dependencies: RecordsDependencies) {
  const {
    requestLog,
    budgets,
    onUsageFailure: onFailure,
    handOverUsage: handOver,
    isUsageCounter: isCounter,
    ...machine
  } = dependencies;
  const requestLogs = new RequestLogs({ ...machine, ...requestLog });
  const usage = new UsageSums({ ...machine, budgets, handOver, isCounter, onFailure });
  const { db, identity } = machine;
  return {
    requestLogs,
    logIntake: new LogIntake({
      ...machine,
      usage,
      offer: requestLog.service && ((rows) => requestLog.service?.offer(rows) ?? false),
      hasUser: (organizationId, userId) =>
        identity.findUserById(db.read, userId)?.organizationId === organizationId,
    }),
    /** counts in memory; the running service loads it at startup and flushes it at the end */
    usage,
    /** counts sums that this or another process has passed on */
    usageIntake: new UsageIntake(machine),
    usageReports: new UsageReports({ ...machine, addressOf: (userId) => requestLogs.addressOf(userId) }),
  };
}
