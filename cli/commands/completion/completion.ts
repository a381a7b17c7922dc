// `quartermaster completion` prints a script for a shell to source. The script calls the hidden command `__complete` each time the
// user presses Tab. scripts.ts contains the scripts; candidates.ts computes the completions.
import { Argument } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** Adds both commands to the command tree. */
export function register(program: CliCommand, context: Context): void {
  program
    .command("completion")
    .description("Prints a script that lets a shell complete commands, options, ids and names.")
    .examples(
      "quartermaster completion bash > /etc/bash_completion.d/quartermaster",
      "quartermaster completion zsh > /usr/local/share/zsh/site-functions/_quartermaster",
      "quartermaster completion fish > /etc/fish/completions/quartermaster.fish",
    )
    .addArgument(new Argument("<shell>", "shell to print the script for").choices(SHELLS))
    .action(async (shell: Shell) => {
      const { SCRIPTS } = await import("./scripts.ts");
      context.stdout.write(SCRIPTS[shell]);
    });
  program
    .command("__complete", { hidden: true })
    .description("Prints the completions of a command line, for the completion scripts.")
    .examples("quartermaster __complete -- users sh", "quartermaster __complete -- users show ''")
    .argument("[words...]", "the words after the program name; the last one is incomplete")
    .action((words: readonly string[]) => complete(program, context, words));
}

async function complete(program: CliCommand, context: Context, words: readonly string[]): Promise<void> {
  const { placeAt } = await import("./candidates.ts");
  const { candidates, wants, typed, before, given } = placeAt(program, words);
  const { stdout } = context;
  const print = (value: string, about: string) => void stdout.write(`${before}${value}\t${about}\n`);
  for (const { value, about } of candidates) if (value.startsWith(typed)) print(value, about);
  if (wants === "files") stdout.write(":\n");
  if (wants === undefined || wants === "files") return;
  const { namesFor } = await import("./names.ts");
  const { printable } = await import("../../output/printable.ts");
  const names = namesFor(context, { kind: wants, prefix: typed, given });
  for (const { name, about } of names) print(name, printable(about));
}
