// The texts of `quartermaster help <topic>`; the manual page repeats the first ones. Settings and their names are for
// src/platform/config/table.ts.

import { HELP_WIDTH } from "./command.ts";
import type { Topic } from "./topic.ts";

/** A word and what it means. */
export type Definition = readonly [term: string, meaning: string];

/** Paragraphs of a topic: prose, or a list of definitions. */
export type Prose = readonly (string | readonly Definition[])[];

/** The topics that the manual page has as well. */
export const PROSE = {
  environment: [
    `Every setting has three spellings: server.listen in the file, QUARTERMASTER_SERVER_LISTEN in the
environment, --server-listen on the command line. A flag wins over the environment, the environment
over the file, the file over the default. \`quartermaster config show\` tells where each value is from,
\`quartermaster config explain SETTING\` how each is spelt.`,
    [
      ["QUARTERMASTER_CONFIG", "the configuration file"],
      ["QUARTERMASTER_<SETTING>", "any setting"],
      ["QUARTERMASTER_<SECRET>_FILE", "a file that holds a secret"],
      ["CREDENTIALS_DIRECTORY", "secrets passed by systemd; they win over everything else"],
      ["STATE_DIRECTORY", "the data directory, when systemd names it"],
      ["CONFIGURATION_DIRECTORY", "where quartermaster.yaml is looked for"],
      ["NOTIFY_SOCKET, WATCHDOG_USEC", "where and how often `serve` tells systemd that it is well"],
      ["JOURNAL_STREAM", "the log goes to the journal: JSON lines with their priority"],
      ["SUDO_USER", "who is named in the audit log for a command run with sudo"],
      ["NO_COLOR, TERM=dumb", "no colour"],
    ],
  ],
  "exit-codes": [
    [
      ["0", "done, or nothing to do"],
      ["1", "unexpected failure: a bug, or the machine"],
      ["2", "wrong usage, invalid input, or a confirmation that could not be asked for"],
      ["3", "not found"],
      ["4", "conflict: stale revision, wrong state, already exists"],
      ["5", "not permitted, or not signed in"],
      ["6", "unavailable; worth trying again; `status` and `doctor` while the service is down"],
      ["7", "verification failed, such as a check of `doctor`; wins over 6"],
      ["8", "finished with some failures; the report lists them"],
      ["130", "interrupted (Ctrl-C)"],
      ["143", "terminated"],
    ],
  ],
  files: [
    [
      [
        "<data directory>/quartermaster.db",
        "everything but artifacts; with -wal and -shm beside it while in use",
      ],
      ["<data directory>/artifacts", "packages, named by their digest"],
      [
        "<data directory>/keys",
        "keys that seal secrets in the database, and that sign bundles; back them up apart from it",
      ],
      ["<data directory>/backups", "backups (.qmb), and copies taken before an upgrade (.db)"],
      [
        "<data directory>/replaced-<time>",
        "a database that a restore has replaced, kept for some days (backup.keep_replaced)",
      ],
      [
        "<data directory>/initial-admin-password",
        "where systemd started the first time; remove it after reading",
      ],
      ["<data directory>/installation.json", "says that there was a database, should that be lost"],
      ["<data directory>/server.lock", "held by the running server"],
      [
        "quartermaster.yaml",
        "settings; named with --config or QUARTERMASTER_CONFIG. The keys control_api.* of a reference deployment are read too; see quartermaster config check",
      ],
    ],
    `The data directory and all in it belong to one user and can be read by that user alone. Started as
root, every command becomes that user before it opens anything there; started as anybody else, it
stops and names the user.`,
  ],
  formatting: [
    `Results go to stdout, everything else to stderr. Tables have one row per thing; - means there is nothing.
Times are shown as ages (3h, 2m, in 5d); --wide shows them exactly and shortens nothing.`,
    `--json prints one document with snake_case members; lists are in "items". Streams print one object per
line. Times are RFC 3339 in UTC, sizes are bytes. Members are added, never renamed or removed.
Errors under --json are one object on stderr: error, reason, hint, problems, exit_code, run_id.`,
  ],
} as const satisfies Readonly<Record<string, Prose>>;

const GAP = 2;

/** @returns the paragraphs as a terminal shows them, without a line break at the end */
const textOf = (prose: Prose): string =>
  prose
    .map((part) => (typeof part === "string" ? wrapped(part, HELP_WIDTH).join("\n") : definitionsText(part)))
    .join("\n\n");

function definitionsText(definitions: readonly Definition[]): string {
  const width = Math.max(...definitions.map(([term]) => term.length)) + GAP;
  const gap = " ".repeat(width);
  return definitions
    .map(([term, meaning]) => term.padEnd(width) + wrapped(meaning, HELP_WIDTH - width).join(`\n${gap}`))
    .join("\n");
}

/** @returns the words of the text in lines of at most `width` characters, where a word has room */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Topic by name, each made when it is asked for; a text alone has no command blocks. */
export const TOPICS: Readonly<Record<string, () => string | Promise<string | Topic>>> = {
  environment: () => textOf(PROSE.environment),
  "exit-codes": () => textOf(PROSE["exit-codes"]),
  files: () => textOf(PROSE.files),
  formatting: () => textOf(PROSE.formatting),
  "gateway-keys": async () => (await import("./keys/topic.ts")).keysTopic(),
  backups: async () => (await import("./backup/topic.ts")).backupsTopic(),
  bundles: async () => (await import("./catalog/topic.ts")).bundlesTopic(),
  harnesses: async () => (await import("./harnesses/topic.ts")).harnessesTopic(),
  service: async () => (await import("./unit/topic.ts")).serviceTopic(),
  fail2ban: async () => (await import("../src/monitoring/fail2ban.ts")).fail2banFilter(),
  "alert-rules": async () => (await import("../src/monitoring/alert-rules.ts")).alertRules(),
  dashboard: async () => (await import("../src/monitoring/dashboard.ts")).dashboard(),
};
