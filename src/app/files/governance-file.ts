// The `governance` section of the configuration file. It is read at every start and on SIGHUP, and merged with the policy in
// force. The log names the areas of the policy that changed, never their values.

import type { Configuration, DeploymentOutcome, DeploymentSection } from "../../domain/governance/service.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import type { Config } from "../../platform/config/config.ts";
import type { RunConfigTask } from "../../platform/config/content.ts";
import type { ConfigFile } from "../../platform/config/file.ts";
import { SETTING_NAMES, settingOf, variableOf } from "../../platform/config/table.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Installation } from "../installation/installation.ts";
import type { Reloading } from "../service/configuration/settings-reload.ts";

/**
 * Publishes the policy of the file, except values that administrators have overridden. Without a section, the first
 * start publishes a policy that allows every harness.
 * @throws DomainError `governance.invalid`, `config.invalid`; nothing has changed then
 */
export const applyGovernance = (
  { domain }: Pick<Installation, "domain">,
  { actor, ...source }: SectionSource & { actor: Actor },
): Promise<DeploymentOutcome> => domain.governance.deployments.apply(actor, sectionOf(source));

interface SectionSource {
  config: Config;
  /** undefined if there is none */
  file: ConfigFile | undefined;
  runTask: RunConfigTask;
}

/** Lines of one kind. A policy may differ from the file in thousands of places; `policy conflicts list` shows all of them. */
export const POLICY_LINES_MAX = 20;

/** Logs the result. */
export function logGovernance(log: Log, outcome: DeploymentOutcome): void {
  const { conflicts, problems, warnings, revision } = outcome;
  log.info(POLICY_EVENTS[outcome.outcome], { revision });
  const places = conflicts.map((path) => ({ path, next: SETTLE_CONFLICT }));
  for (const line of firstOf(places)) log.warning("policy.conflict", line);
  for (const line of firstOf(problems)) log.error("policy.section_rejected", line);
  for (const line of firstOf(warnings)) log.warning("policy.warning", line);
}

/** @returns the first lines, and one line that counts the rest */
function firstOf(lines: readonly object[]): Record<string, unknown>[] {
  const more = lines.length - POLICY_LINES_MAX;
  return [...lines.slice(0, POLICY_LINES_MAX), ...(more > 0 ? [{ more }] : [])].map((line) => ({ ...line }));
}

/** The event for each outcome of applying the section of the configuration file. */
export const POLICY_EVENTS: Readonly<Record<DeploymentOutcome["outcome"], string>> = {
  bootstrap: "policy.bootstrap",
  deployed: "policy.deployed",
  unchanged: "policy.unchanged",
  kept: "policy.kept",
};

const SETTLE_CONFLICT =
  "the manually published value stays; to resolve the conflict, make the file match the policy, or see `quartermaster policy conflicts`";

/** Applies the reread file while the service runs. An invalid file is logged and changes nothing. */
export async function reloadGovernance(
  installation: Pick<Installation, "domain">,
  { log, config, reading, ...rest }: Reloading & { actor: Actor; runTask: RunConfigTask },
): Promise<void> {
  try {
    const file = config.fileIn(await reading);
    logGovernance(log, await applyGovernance(installation, { ...rest, config, file }));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("policy.rejected", { reason: error.reason, message: error.message });
    for (const problem of error.problems) log.error("policy.problem", { ...problem });
  }
}

/** @returns the policy section of the file; undefined without one */
export function sectionOf({ config, file, runTask }: SectionSource): DeploymentSection | undefined {
  if (file?.governance === undefined) return undefined;
  const { governance, references, bytes } = file;
  const variables = [...references].flatMap((name) => {
    const text = config.variable(name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    input: governance,
    variables: Object.fromEntries(variables),
    linesOf: (pointers) => runTask("configurationLines", { bytes, pointers }),
  };
}

/**
 * @returns the current file, for an export; undefined if the service runs without one
 * @throws DomainError `config.invalid` if it can no longer be read, `document.*`
 */
export async function configurationIn(
  config: Config,
  runTask: RunConfigTask,
): Promise<Configuration | undefined> {
  return configurationOf(config.fileIn(await config.readFileAgain(runTask)));
}

export function configurationOf(file: ConfigFile | undefined): Configuration | undefined {
  if (!file) return undefined;
  const secrets = SETTING_NAMES.filter((name) => settingOf(name).credential !== undefined);
  return { content: file.whole, secrets: secrets.map((name) => [name, variableOf(name)]) };
}
