// Defines `quartermaster gateway` and its groups of verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { addLogVerbs, addUsageVerb } from "./logs.ts";
import { addModelVerbs } from "./models.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("gateway")
    .description("Assigns the models of the gateway to agents, and shows requests to them and their usage.")
    .examples(
      "quartermaster gateway models list",
      "quartermaster gateway logs tail",
      "quartermaster gateway usage",
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  addModelVerbs(noun, context);
  addLogVerbs(noun, context);
  addUsageVerb(noun, context);
}
