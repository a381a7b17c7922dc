// Defines `quartermaster invitations` and its verbs. `users invite` creates invitations; the code of the verbs is in users/invite.ts.

import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { domainAction, readingAction } from "../data-directory/in-domain.ts";
import { choiceOption, INVITATION_STATUS_CHOICES, ROLE_CHOICES } from "../input/choices.ts";
import { addConfirmOptions } from "../input/prompt.ts";
import { addDirectoryOptions, addOptionsOf } from "../input/setting-options.ts";
import { addPageOptions } from "../output/list-pages.ts";

const ID = ["<id>", "id of the invitation"] as const;
const EXAMPLE_ID = "01a1fde0-5c3e-7f6a-9d2b-1f6e5b9d3344";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("invitations")
    .description("Shows, renews and cancels invitations.")
    .examples("quartermaster invitations list", `quartermaster invitations cancel ${EXAMPLE_ID}`);

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [...readingVerbs(noun, context), ...changingVerbs(noun, context)];
  for (const verb of verbs) addDirectoryOptions(verb);
  addOptionsOf(regenerating(noun, context), ["data_dir", "server.public_url", "server.listen"]);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists invitations, newest first.")
    .examples(
      "quartermaster invitations list --status outstanding",
      "quartermaster invitations list --role admin --json",
    )
    .addOption(choiceOption("--role <role>", "only invitations with this role", ROLE_CHOICES))
    .addOption(choiceOption("--status <status>", "neither accepted nor canceled", INVITATION_STATUS_CHOICES))
    .with(addPageOptions)
    .printsTable()
    .action(readingAction(context, async () => (await import("./users/invite.ts")).list)),
  noun
    .command("show")
    .description("Shows one invitation, without its link.")
    .examples(
      `quartermaster invitations show ${EXAMPLE_ID}`,
      `quartermaster invitations show ${EXAMPLE_ID} --json`,
    )
    .argument(...ID)
    .printsJson()
    .action(readingAction(context, async () => (await import("./users/invite.ts")).show)),
];

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("cancel")
    .description("Cancels an invitation; its link stops working.")
    .examples(
      `quartermaster invitations cancel ${EXAMPLE_ID}`,
      `quartermaster invitations cancel ${EXAMPLE_ID} --yes`,
    )
    .argument(...ID)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./users/invite.ts")).cancel)),
  noun
    .command("resend")
    .description("Renews a pending or expired invitation for 24 hours with the same link.")
    .examples(
      `quartermaster invitations resend ${EXAMPLE_ID}`,
      `quartermaster invitations resend ${EXAMPLE_ID} --json`,
    )
    .argument(...ID)
    .printsJson()
    .action(domainAction(context, async () => (await import("./users/invite.ts")).resend)),
];

const regenerating = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("regenerate")
    .description("Renews an invitation for 24 hours with a new link, which is shown once.")
    .examples(
      `quartermaster invitations regenerate ${EXAMPLE_ID}`,
      `quartermaster invitations regenerate ${EXAMPLE_ID} --yes --json`,
    )
    .argument(...ID)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./users/invite.ts")).regenerate));
