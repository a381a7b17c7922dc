// Defines `quartermaster gateway` and its groups of verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { addModelVerbs } from "./models.ts";

/** Adds the noun to the command tree. */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("gateway")
    .description("Shows what the inference gateway offers, and assigns its models to agents.")
    .examples("quartermaster gateway models list", "quartermaster gateway models refresh");

/** Adds the groups to the noun. */
export function addVerbs(noun: CliCommand, context: Context): void {
  addModelVerbs(noun, context);
}
