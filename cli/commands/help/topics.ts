// Help topics other than commands and handbook chapters: example files for other programs. Also the texts that the manual page and
// the handbook share. src/platform/config/table.ts describes the settings.
import { CHAPTERS, TOPIC_SECTIONS } from "../../../src/handbook/contents.ts";

type Definition = readonly [term: string, meaning: string];

/** The parts of a topic: paragraphs, and lists of definitions. */
export type Prose = readonly (string | readonly Definition[])[];

/** Sections of the manual page; test/handbook/reference.test.ts keeps the same sections in the handbook. */
export const PROSE = {
  environment: [
    `Every setting has three spellings: server.listen in the file, QUARTERMASTER_SERVER_LISTEN in the
environment, --server-listen on the command line. Flags override the environment, the environment
overrides the file, and the file overrides the default. \`quartermaster config show\` shows where each
value comes from. \`quartermaster config explain SETTING\` shows the spellings of one setting.`,
    [
      ["QUARTERMASTER_CONFIG", "the configuration file"],
      ["QUARTERMASTER_<SETTING>", "any setting"],
      ["QUARTERMASTER_<SECRET>_FILE", "a file that contains a secret"],
      ["CREDENTIALS_DIRECTORY", "secrets passed by systemd; they override everything else"],
      ["STATE_DIRECTORY", "the data directory, if systemd sets it"],
      ["CONFIGURATION_DIRECTORY", "the folder that contains quartermaster.yaml"],
      ["NOTIFY_SOCKET, WATCHDOG_USEC", "where and how often `serve` reports its state to systemd"],
      ["JOURNAL_STREAM", "set if the output goes to the journal; the log is then JSON lines with priorities"],
      ["SUDO_USER", "the user that the audit log names for a command run with sudo"],
      ["NO_COLOR, TERM=dumb", "disable color"],
    ],
  ],
  "exit-codes": [
    [
      ["0", "done, or nothing to do"],
      ["1", "unexpected failure: a bug or a fault of the machine"],
      ["2", "wrong usage, invalid input, or a confirmation that needs a terminal"],
      ["3", "not found"],
      ["4", "conflict: stale revision, wrong state, already exists"],
      ["5", "not permitted, or not signed in"],
      [
        "6",
        "unavailable, try again later; `status` and `doctor` if the service is not running; `probe` if the server cannot be reached",
      ],
      ["7", "verification failed, such as a check of `doctor` or `probe`; takes precedence over 6"],
      ["8", "finished with some failures; the report lists them"],
      ["130", "interrupted (Ctrl-C), or a prompt was answered with no"],
      ["143", "terminated"],
    ],
  ],
  files: [
    [
      [
        "<data directory>/quartermaster.db",
        "the database: everything except artifacts and captured sessions; -wal and -shm files exist while it is in use",
      ],
      ["<data directory>/artifacts", "packages, named by their digest"],
      ["<data directory>/sessions", "captured sessions of the store local, named by their digest"],
      [
        "<data directory>/keys",
        "keys that seal secrets in the database and sign bundles; back them up apart from the database",
      ],
      ["<data directory>/backups", "backups (.qmb), and copies taken before an upgrade (.db)"],
      [
        "<data directory>/replaced-<time>",
        "a database replaced by a restore, kept for some days (backup.keep_replaced)",
      ],
      [
        "<data directory>/initial-admin-password",
        "written at the first start under systemd; remove it after reading",
      ],
      ["<data directory>/installation.json", "records that a database exists, so that its loss is detected"],
      ["<data directory>/server.lock", "held by the running server"],
      ["<data directory>/disk-reserve", "space for sign-ins and changes on a full disk; it may be deleted"],
      ["<data directory>/forwarding.lock", "held by the process that forwards inference on its own listener"],
      [
        "quartermaster.yaml",
        "settings; named with --config or QUARTERMASTER_CONFIG. The keys control_api.* of a reference deployment are read too; see quartermaster config check",
      ],
    ],
    `The data directory and everything in it belong to one user, and only that user can read it. A command
started as root switches to that user before it opens anything there. A command started as another
user stops and names the owner.`,
  ],
  formatting: [
    `Results go to stdout, everything else to stderr. Tables have one row per item; - means no value.
Times are shown as ages (3h, 2m, in 5d); --wide shows exact times and full values.`,
    `--json prints one document with snake_case members; lists are in "items". Streams print one object per
line. Times are RFC 3339 in UTC, sizes are bytes. Members are added, never renamed or removed.
Errors under --json are one object on stderr: error, reason, hint, problems, exit_code, run_id.`,
  ],
} as const satisfies Readonly<Record<string, Prose>>;

/** @returns the words of the text in lines of at most `width` characters; a longer word gets its own line */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Example files by topic, generated on demand. They are printed unchanged, so that they can be redirected to a file. */
export const FILES: ReadonlyMap<string, () => Promise<string>> = new Map([
  ["containerfile", async () => (await import("../../../src/handbook/containerfile.ts")).containerfile()],
  ["fail2ban", async () => (await import("../../../src/app/monitoring/fail2ban.ts")).fail2banFilter()],
  ["alert-rules", async () => (await import("../../../src/app/monitoring/alert-rules.ts")).alertRules()],
  ["dashboard", async () => (await import("../../../src/app/monitoring/dashboard.ts")).dashboard()],
]);

/** The topics of `help` in addition to commands. */
export const TOPICS: readonly { name: string; about: string }[] = [
  ...CHAPTERS.map(({ name, about }) => ({ name, about })),
  ...[...TOPIC_SECTIONS.keys()].map((name) => ({ name, about: "section of the handbook" })),
  ...[...FILES.keys()].map((name) => ({ name, about: "example file" })),
];
