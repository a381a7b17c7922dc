// `quartermaster completion`: what a shell sources, and the hidden command that it then asks at each key press. What the
// scripts are is in cli/commands/completion/scripts.ts, what fits at the cursor in candidates.ts.
import { Argument } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** Adds both commands to the tree (operator-experience.md CLI-15). */
export function register(program: CliCommand, context: Context): void {
  program
    .command("completion")
    .description("Prints what makes a shell complete commands, options, ids and names.")
    .examples(
      "quartermaster completion bash > /etc/bash_completion.d/quartermaster",
      "quartermaster completion zsh > /usr/local/share/zsh/site-functions/_quartermaster",
      "quartermaster completion fish > /etc/fish/completions/quartermaster.fish",
    )
    .addArgument(new Argument("<shell>", "the shell that is to complete").choices(SHELLS))
    .action(async (shell: Shell) => {
      const { SCRIPTS } = await import("./scripts.ts");
      context.stdout.write(SCRIPTS[shell]);
    });
  program
    .command("__complete", { hidden: true })
    .description("Tells a shell what may stand at the cursor.")
    .examples("quartermaster __complete -- users sh", "quartermaster __complete -- users show ''")
    .argument("[words...]", "the words after the program's name; the last one is being typed")
    .action((words: readonly string[]) => complete(program, context, words));
}

async function complete(program: CliCommand, context: Context, words: readonly string[]): Promise<void> {
  const { placeAt } = await import("./candidates.ts");
  const { candidates, wants, typed, before, given } = placeAt(program, words);
  const { stdout } = context;
  const say = (value: string, about: string) => void stdout.write(`${before}${value}\t${about}\n`);
  for (const { value, about } of candidates) if (value.startsWith(typed)) say(value, about);
  if (wants === "files") stdout.write(":\n");
  if (wants === undefined || wants === "files") return;
  const { namesFor } = await import("./names.ts");
  const { printable } = await import("../../output/printable.ts");
  const names = namesFor(context, { kind: wants, prefix: typed, given });
  for (const { name, about } of names) say(name, printable(about));
}
