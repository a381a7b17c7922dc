// What a verb on the data directory works with, and the way from its line in the command tree to its function: settings
// loaded, directory opened, closed again at the end. The verbs are in the folders beside this file.

import type { Domain } from "../../src/domain/domain.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import type { Config } from "../../src/platform/config/config.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { loadSettings } from "../input/setting-options.ts";
import { type Output, outputFor } from "../output/output.ts";
import { withDomain } from "./with-domain.ts";

/** One run of a verb that opens the data directory in its own way, or not at all. */
export interface SettingsCall {
  readonly context: Context;
  readonly command: CliCommand;
  readonly config: Config;
  readonly output: Output;
  /** as given; commander has refused too few and too many */
  readonly args: readonly string[];
  /** @returns the value of an option, by its name in camel case */
  text(name: string): string | undefined;
  /** @returns whether a switch was given */
  has(name: string): boolean;
}

/** One run of a verb. */
export interface Call extends SettingsCall {
  readonly domain: Domain;
  /** the operator */
  readonly actor: Actor;
  /** @returns what ends it: until then all that is read is of this moment. A verb that writes must not ask for it. */
  moment(): Disposable;
}

/**
 * @param load imports the verb only when it runs: `--version` and help must not wait for it
 * @returns the action for commander
 */
export const domainAction = (context: Context, load: () => Promise<(call: Call) => Promise<void>>) =>
  settingsAction(context, async () => {
    const verb = await load();
    return (call) =>
      withDomain(context, call.config, ({ domain, actor, moment, schema: { from, to, backup } }) => {
        if (backup !== undefined)
          call.output.note(`brought the database from schema ${from} to ${to}; a copy as it was: ${backup}`);
        return verb({ ...call, domain, actor, moment });
      });
  });

/** The same for a verb to which the data directory is not opened. */
export const settingsAction = (
  context: Context,
  load: () => Promise<(call: SettingsCall) => Promise<void>>,
) =>
  async function (this: CliCommand): Promise<void> {
    const config = await loadSettings(context, this);
    const options: Record<string, unknown> = this.opts();
    const verb = await load();
    await verb({
      context,
      command: this,
      config,
      output: outputFor(context, this),
      args: this.args,
      text: (name) => textIn(options[name]),
      has: (name) => options[name] === true,
    });
  };

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
