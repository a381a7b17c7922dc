// Prints the findings of `doctor`. The exit code is 7 if a check failed, otherwise 6 if the service is down.
import type { StartWatch } from "../../../src/app/doctor/content.ts";
import { diagnose } from "../../../src/app/doctor/diagnose.ts";
import type { Finding } from "../../../src/app/doctor/finding.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { assertServiceRunning } from "../../data-directory/service-down.ts";
import { loadSettings } from "../../input/setting-options.ts";
import { outputFor } from "../../output/output.ts";
import { printable } from "../../output/printable.ts";
import { startProgress } from "../../output/progress.ts";

/** @throws DomainError `doctor.failed` or `service.down` after the report; `data_dir.*` if there is no installation */
export async function doctor(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { deep = false }: { deep?: boolean } = command.opts();
  const { clock, ids } = context;
  const startWatch: StartWatch = (work) => startProgress(context, work);
  const checks = await diagnose({ config, clock, ids, deep, startWatch });
  const failed = checks.filter(({ result }) => result === "failed").length;
  outputFor(context, command).result({ healthy: failed === 0, deep, checks }, reportText(checks));
  if (failed === 0) {
    if (checks.some(({ check, result }) => check === "service" && result !== "ok"))
      assertServiceRunning(command);
    return;
  }
  const message = `${failed} of ${checks.length} checks failed`;
  throw new DomainError("unverified", "doctor.failed", message, {
    hint: "each failed check above has its remedy",
  });
}

/** FAILED is uppercase so that failures stand out without color. */
const WORDS = { ok: "ok", warning: "warning", failed: "FAILED", skipped: "skipped" } as const;
const GAP = 2;

function reportText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length)) + GAP;
  const margin = " ".repeat(WORDS.warning.length + GAP);
  return findings
    .flatMap(({ check, result, detail, remedy }) => [
      `${WORDS[result].padEnd(margin.length)}${wordFor(check).padEnd(width)}${printable(detail)}`,
      ...(remedy === null ? [] : [`${margin}${"".padEnd(width)}-> ${printable(remedy)}`]),
    ])
    .join("\n");
}

const wordFor = (check: string): string => check.replaceAll("_", " ");
