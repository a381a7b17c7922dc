// Commander actions for verbs that work on the data directory. An action loads the settings, opens the directory, runs the
// verb, and closes the directory. The verbs are in cli/commands/.

import type { Domain } from "../../src/domain/domain.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import { commandWith } from "../../src/platform/config/command-hint.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { DomainError } from "../../src/platform/errors.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { loadSettings } from "../input/setting-options.ts";
import { type Output, outputFor } from "../output/output.ts";
import { withDomain } from "./with-domain.ts";

/** One run of a verb that opens the data directory itself, or does not need it. */
export interface SettingsCall {
  readonly context: Context;
  readonly command: CliCommand;
  readonly config: Config;
  readonly output: Output;
  /** as given; commander has already checked their number */
  readonly args: readonly string[];
  /** @param name option name in camel case */
  text(name: string): string | undefined;
  /** @returns whether a flag without a value was given */
  has(name: string): boolean;
}

/** One run of a verb on an open data directory. */
export interface Call extends SettingsCall {
  readonly domain: Domain;
  /** the operator */
  readonly actor: Actor;
  /** Starts a read snapshot that lasts until it is disposed. A verb that writes must not use it. */
  moment(): Disposable;
}

type LoadVerb = () => Promise<(call: Call) => Promise<void>>;

/**
 * The verb may upgrade an older database and then prints a note; `--dry-run` never upgrades.
 * @param load imports the verb when it runs, so that `--version` and help start quickly
 * @returns the action for commander
 */
export const domainAction = (context: Context, load: LoadVerb) =>
  actionIn(context, load, (call) => call.has("dryRun"));

/** Like domainAction, for a verb that only reads: an older database is refused with `schema.older` instead of upgraded. */
export const readingAction = (context: Context, load: LoadVerb) => actionIn(context, load, () => true);

const actionIn = (context: Context, load: LoadVerb, isReader: (call: SettingsCall) => boolean) =>
  settingsAction(context, async () => {
    const verb = await load();
    return (call) =>
      withDomain(
        context,
        call.config,
        ({ domain, actor, moment, schema: { from, to, backup } }) => {
          if (backup !== undefined)
            call.output.note(
              `upgraded the database from schema ${from} to ${to}; copy before the upgrade: ${backup}`,
            );
          return verb({ ...call, domain, actor, moment });
        },
        { mustNotUpgrade: isReader(call) },
      );
  });

/** enough for a hundred thousand names */
const BUDGET_MS = 500;

/** Workstations choose their own names. A person may copy a proposal into a shell, so it contains no shell syntax. */
const HARMLESS = /^[\p{L}\p{N}@._+:/-]+$/u;

/**
 * Adds the most similar name to an error about an unknown name. Reading all names may take a moment, so only commands
 * do it.
 * @returns the error to report: the same, or one with the name as its hint
 */
async function withProposal(
  error: unknown,
  { clock }: Pick<Context, "clock">,
  dataDirectory: string,
): Promise<unknown> {
  if (!(error instanceof DomainError) || error.missing === undefined) return error;
  const { kind, reason, message, missing } = error;
  const { nearestName } = await import("../../src/app/installation/known-names.ts");
  const wanted = { ...missing, clock, deadlineMs: clock.nowMs() + BUDGET_MS };
  const nearest = nearestName(dataDirectory, wanted);
  if (nearest === undefined || !HARMLESS.test(nearest)) return error;
  return new DomainError(kind, reason, message, { hint: `did you mean ${nearest}?`, cause: error });
}

/** Commands in hints that only show data, without arguments. */
const SHOWING = /`quartermaster ([a-z -]+ (?:history|list|show))`/g;

/** Adds the settings to commands in the hint: without them, they would fail or show other data. */
function withSettings(error: unknown, config: Config): unknown {
  if (!(error instanceof DomainError) || error.hint === undefined) return error;
  const { kind, reason, message, problems } = error;
  const hint = error.hint.replace(SHOWING, (_command, words: string) => `\`${commandWith(config, words)}\``);
  return hint === error.hint
    ? error
    : new DomainError(kind, reason, message, { hint, problems, cause: error });
}

/** Like domainAction, but does not open the data directory. */
export const settingsAction = (
  context: Context,
  load: () => Promise<(call: SettingsCall) => Promise<void>>,
) =>
  async function (this: CliCommand): Promise<void> {
    const config = await loadSettings(context, this);
    const options: Record<string, unknown> = this.opts();
    const verb = await load();
    const call = {
      context,
      command: this,
      config,
      output: outputFor(context, this),
      args: this.args,
      text: (name: string) => textIn(options[name]),
      has: (name: string) => options[name] === true,
    };
    try {
      await verb(call);
    } catch (error) {
      throw withSettings(await withProposal(error, context, config.get("data_dir")), config);
    }
  };

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
