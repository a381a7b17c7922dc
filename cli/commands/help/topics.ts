// What `quartermaster help <word>` prints besides commands and chapters of the handbook: example files of other programs. Also the
// texts that the manual page and the handbook share. Settings and their names are for src/platform/config/table.ts.
import { CHAPTERS, TOPIC_SECTIONS } from "../../../src/handbook/contents.ts";

/** A word and what it means. */
export type Definition = readonly [term: string, meaning: string];

/** Paragraphs of a topic: prose, or a list of definitions. */
export type Prose = readonly (string | readonly Definition[])[];

/** Sections of the manual page; test/handbook/reference.test.ts keeps those of the handbook equal to them. */
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

/** Example files by topic, each made when it is asked for. They are printed as they are, to be written to a file. */
export const FILES: ReadonlyMap<string, () => Promise<string>> = new Map([
  ["fail2ban", async () => (await import("../../../src/app/monitoring/fail2ban.ts")).fail2banFilter()],
  ["alert-rules", async () => (await import("../../../src/app/monitoring/alert-rules.ts")).alertRules()],
  ["dashboard", async () => (await import("../../../src/app/monitoring/dashboard.ts")).dashboard()],
]);

/** Every word that `help` knows besides commands, with what it prints. */
export const TOPICS: readonly { name: string; about: string }[] = [
  ...CHAPTERS.map(({ name, about }) => ({ name, about })),
  ...[...TOPIC_SECTIONS.keys()].map((name) => ({ name, about: "section of the handbook" })),
  ...[...FILES.keys()].map((name) => ({ name, about: "example file" })),
];
