// Prints the findings of `doctor`. The exit code is 7 if a check failed, otherwise 6 if the service is down.
import { diagnose } from "../../../src/app/doctor/diagnose.ts";
import type { StartWatch } from "../../../src/app/doctor/domain-checks.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { assertServiceRunning } from "../../data-directory/service-down.ts";
import { loadSettings } from "../../input/setting-options.ts";
import { findingsText } from "../../output/findings.ts";
import { outputFor } from "../../output/output.ts";
import { startProgress } from "../../output/progress.ts";

/** @throws DomainError `doctor.failed` or `service.down` after the report; `data_dir.*` if there is no installation */
export async function doctor(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { deep = false }: { deep?: boolean } = command.opts();
  const { clock, ids } = context;
  const startWatch: StartWatch = (work) => startProgress(context, work);
  const checks = await diagnose({ config, clock, ids, deep, startWatch });
  const failed = checks.filter(({ result }) => result === "failed").length;
  const output = outputFor(context, command);
  output.result({ healthy: failed === 0, deep, checks }, findingsText(checks, output.hasColor));
  if (failed === 0) {
    if (checks.some(({ check, result }) => check === "service" && result !== "ok"))
      assertServiceRunning(command);
    return;
  }
  const message = `${failed} of ${checks.length} checks failed`;
  throw new DomainError("unverified", "doctor.failed", message, {
    hint: "the line below each failed check explains how to fix it",
  });
}
