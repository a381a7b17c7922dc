// Defines `quartermaster gateway logs`, its verbs, and `gateway usage`. The code of a verb is loaded when it runs.

import { RESULTS } from "../../../src/domain/inference/log/model.ts";
import { OUTCOMES } from "../../../src/domain/inference/log/record.ts";
import { BUCKETS, SUMMARY_GROUPS } from "../../../src/domain/inference/log/summary/model.ts";
import { GROUPS } from "../../../src/domain/inference/usage/model.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { readingAction } from "../../data-directory/in-domain.ts";
import { choiceOption } from "../../input/choices.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";

export function addLogVerbs(noun: CliCommand, context: Context): void {
  const group = noun
    .command("logs")
    .description("Lists, follows and exports the metadata of inference requests.")
    .examples(
      "quartermaster gateway logs list --from 2027-06-01",
      "quartermaster gateway logs export --jsonl --out logs",
    );
  const verbs = [
    listing(group, context),
    summing(group, context),
    following(group, context),
    exporting(group, context),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}

/** Adds `gateway usage`. */
export const addUsageVerb = (noun: CliCommand, context: Context): CliCommand =>
  addPeriod(
    noun
      .command("usage")
      .description("Sums inference requests and tokens by user, model, agent or day.")
      .examples(
        "quartermaster gateway usage",
        "quartermaster gateway usage --by model --from 2027-06-01 --to 2027-06-30",
        "quartermaster gateway usage --by day --user ana@example.org --json",
      )
      .addOption(choiceOption("--by <group>", "what to sum by", GROUPS).default("user"))
      .option("--user <user>", "only this user: e-mail address or id"),
  )
    .printsTable()
    .action(readingAction(context, async () => (await import("./usage-reading.ts")).usage))
    .with(addDirectoryOptions);

const addPeriod = (command: CliCommand): CliCommand =>
  command
    .option("--from <date>", "first day in UTC, such as 2027-06-01")
    .option("--to <date>", "last day in UTC");

const addTimes = (command: CliCommand): CliCommand =>
  command
    .option("--from <time>", "first day in UTC, such as 2027-06-01, or a start time")
    .option("--to <time>", "last day in UTC, or an exclusive end time");

/** The filters of `list` and `summary`. */
const addFilters = (command: CliCommand): CliCommand =>
  addTimes(command)
    .option("--user <user>", "only requests of this user: e-mail address or id")
    .option("--model <model>", "only requests for this model")
    .option("--harness <harness>", "only requests of this agent")
    .addOption(choiceOption("--result <result>", "only requests with this result", RESULTS))
    .addOption(choiceOption("--outcome <outcome>", "only requests that ended this way", OUTCOMES))
    .option("--run <id>", "only requests of this run")
    .option("--profile <id>", "only requests of this profile at the gateway")
    .option("--min-tokens <number>", "only requests with at least this many input and output tokens");

const listing = (group: CliCommand, context: Context): CliCommand =>
  addPageOptions(
    addFilters(
      group
        .command("list")
        .description("Lists inference requests, newest first, and warns of gaps in the log.")
        .examples(
          "quartermaster gateway logs list --limit 20",
          "quartermaster gateway logs list --user ana@example.org --result server_error --wide",
          "quartermaster gateway logs list --model gpt-5 --from 2027-06-01 --json",
        ),
    ),
  )
    .printsTable()
    .action(readingAction(context, async () => (await import("./log-reading.ts")).list));

const summing = (group: CliCommand, context: Context): CliCommand =>
  addFilters(
    group
      .command("summary")
      .description("Counts inference requests, errors and latency by hour or day, or by model or user.")
      .examples(
        "quartermaster gateway logs summary --from 2027-06-01",
        "quartermaster gateway logs summary --by model",
        "quartermaster gateway logs summary --bucket hour --user ana@example.org --json",
      ),
  )
    .option("--q <text>", "only requests that contain this text")
    .addOption(choiceOption("--bucket <bucket>", "period of one line, in UTC", BUCKETS))
    .addOption(choiceOption("--by <group>", "lines of those with the most requests", SUMMARY_GROUPS))
    .printsTable()
    .action(readingAction(context, async () => (await import("./log-summary.ts")).summary));

const following = (group: CliCommand, context: Context): CliCommand =>
  group
    .command("tail")
    .description("Prints the latest inference requests, then new ones as they end, until Ctrl-C.")
    .examples(
      "quartermaster gateway logs tail",
      "quartermaster gateway logs tail --limit 100 --no-follow --json",
    )
    .option("--limit <n>", "number of earlier requests to print first, at most 100", "10")
    .option("--no-follow", "exit after printing these")
    .printsJson()
    .action(readingAction(context, async () => (await import("./log-reading.ts")).tail));

const exporting = (group: CliCommand, context: Context): CliCommand =>
  addPeriod(
    group
      .command("export")
      .description(
        "Writes one file for each completed day, as JSON Lines or Parquet, to a folder or to the object store. Days that already have a file are skipped, so a repeated export continues.",
      )
      .examples(
        "quartermaster gateway logs export --jsonl --out logs",
        "quartermaster gateway logs export --parquet --out logs --from 2027-06-01 --to 2027-06-30",
        "quartermaster gateway logs export --parquet --store",
      )
      .option("--jsonl", "write JSON Lines")
      .option("--parquet", "write Parquet")
      .option("--out <folder>", "existing folder for the files")
      .option("--store", "write to request-logs/ in the bucket of captured sessions"),
  )
    .option("--replace", "overwrite the files of days that were already exported")
    .option("--dry-run", "show what would be exported, and write nothing")
    .printsJson()
    .action(readingAction(context, async () => (await import("./log-export.ts")).exportLogs));
