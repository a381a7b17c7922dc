// Asks the operator for confirmation, for a name to type, or for a secret without echo. Without a terminal it fails instead of
// waiting for a response. @clack/prompts draws the questions on stderr.
import { DomainError } from "../../src/platform/errors.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { Declined, Interrupted } from "../exit.ts";
import { hasColor } from "../output/color.ts";
import { outputFor } from "../output/output.ts";
import { printable } from "../output/printable.ts";

/** The plan of a command, shown before it acts. The dry run and the confirmation print the same text. */
export interface Plan {
  /** starts with a verb in the infinitive: `remove 1 client from the inventory` */
  readonly action: string;
  /** what changes and what stays, one line each */
  readonly details?: readonly string[];
}

/** Adds `--yes` and `--dry-run` to a destructive verb (requirement CLI-7). */
export const addConfirmOptions = (command: CliCommand): CliCommand =>
  addDryRun(command).option("--yes", "do not ask for confirmation");

/** Adds `--confirm` and `--dry-run` to a verb that replaces or erases data for good (requirement CLI-8). */
export const addSevereConfirmOptions = (command: CliCommand): CliCommand =>
  addDryRun(command).option(
    "--confirm <name>",
    "do not ask for confirmation; must name the object to replace or erase",
  );

const addDryRun = (command: CliCommand): CliCommand =>
  command.option("--dry-run", "show what would be done, and change nothing");

/**
 * Asks whether to carry out the plan, unless `--yes` was given.
 * @returns false for a dry run, which has been printed already
 * @throws DomainError `confirmation.no_terminal`; Declined for a negative answer; Interrupted on Ctrl-C
 */
export async function isConfirmed(context: Context, command: CliCommand, plan: Plan): Promise<boolean> {
  const { dryRun, yes }: Record<string, unknown> = command.opts();
  if (dryRun === true) return endDryRun(context, command, plan);
  if (yes === true) return true;
  refuseWithoutTerminal(context, { hint: "add --yes, or --dry-run to see the plan" });
  printPlan(context, plan);
  const { confirm } = await import("@clack/prompts");
  const message = "Do you want to continue?";
  const answer = await confirm({ ...terminal(context, command), message, initialValue: false });
  assertAnswered(answer);
  if (!answer) throw new Declined();
  return true;
}

/**
 * Like `isConfirmed`, for changes that cannot be undone: the operator types `name` or passes it with `--confirm`.
 * @throws DomainError also `confirmation.wrong_name` when `--confirm` has another value
 */
export async function isNameConfirmed(
  context: Context,
  command: CliCommand,
  { name, ...plan }: Plan & { readonly name: string },
): Promise<boolean> {
  const { dryRun, confirm }: Record<string, unknown> = command.opts();
  if (dryRun === true) return endDryRun(context, command, plan);
  if (confirm === name) return true;
  if (confirm !== undefined) throw wrongName(name);
  refuseWithoutTerminal(context, { hint: `add --confirm ${name}, or --dry-run to see the plan` });
  printPlan(context, plan);
  const { text } = await import("@clack/prompts");
  const message = `Type ${printable(name)} to continue:`;
  const typed = await text({ ...terminal(context, command), message });
  assertAnswered(typed);
  if (typed !== name) throw new Declined();
  return true;
}

/**
 * Asks for a secret without echo.
 * @param ask `hint` is the hint of the error when there is no terminal
 * @throws DomainError `confirmation.no_terminal`; Interrupted on Ctrl-C
 */
export async function askSecret(
  context: Context,
  command: CliCommand,
  ask: { readonly question: string; readonly hint: string },
): Promise<string> {
  refuseWithoutTerminal(context, { hint: ask.hint, what: "a secret is required" });
  const { password } = await import("@clack/prompts");
  const secret = await password({ ...terminal(context, command), message: ask.question, mask: "" });
  assertAnswered(secret);
  return secret;
}

function endDryRun(context: Context, command: CliCommand, plan: Plan): false {
  const { action, details = [] } = plan;
  const text = [...planLines("Would", plan), "No changes made."].join("\n");
  outputFor(context, command).result({ dry_run: true, action, details }, text);
  return false;
}

const printPlan = ({ stderr }: Context, plan: Plan): void =>
  void stderr.write(`${planLines("This will", plan).join("\n")}\n`);

const planLines = (verb: string, { action, details = [] }: Plan): readonly string[] => [
  `${verb} ${printable(action)}${details.length === 0 ? "." : ":"}`,
  ...details.map((line) => `  ${printable(line)}`),
];

function refuseWithoutTerminal(
  { stdin, stderr }: Context,
  { hint, what = "confirmation is required" }: { hint: string; what?: string },
): void {
  if (stdin.isTTY && stderr.isTTY) return;
  throw new DomainError("invalid", "confirmation.no_terminal", `${what} and there is no terminal`, { hint });
}

const wrongName = (name: string): DomainError =>
  new DomainError("invalid", "confirmation.wrong_name", "--confirm has the wrong name", {
    hint: `to continue: --confirm ${name}`,
  });

/** Clack has no option for color; it reads only the environment of the process. */
function terminal({ stdin, stderr, env }: Context, command: CliCommand) {
  if (!hasColor(stderr, env, command.optsWithGlobals().color)) process.env.NO_COLOR = "1";
  return { input: stdin, output: stderr, withGuide: false };
}

/** Clack returns a symbol for Ctrl-C and Escape. */
function assertAnswered(answer: unknown): asserts answer is string | boolean {
  if (typeof answer === "symbol") throw new Interrupted("SIGINT");
}
