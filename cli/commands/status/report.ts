// Prints the screen of `status`; the exit code is 6 if no service is running. read.ts collects the facts, view.ts formats them.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { assertServiceRunning } from "../../data-directory/service-down.ts";
import { outputFor } from "../../output/output.ts";
import { readStatus } from "./read.ts";
import { statusDocument, statusText } from "./view.ts";

/** @throws DomainError `service.down` after the report; `data_dir.*`, `schema.newer`, `schema.altered`, `storage.*` */
export async function status(context: Context, command: CliCommand): Promise<void> {
  const found = await readStatus(context, command);
  outputFor(context, command).result(statusDocument(found), statusText(found));
  if (found.machine.server === undefined) assertServiceRunning(command);
}
