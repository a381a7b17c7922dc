// The texts of `quartermaster help <topic>`, and what the manual page repeats. Settings and their names are for
// src/platform/config-table.ts.

/** Topic by name, each a text without a line break at its end; made when it is asked for where it follows from the domain. */
export const TOPICS: Readonly<Record<string, string | (() => Promise<string>)>> = {
  environment: `Every setting has three spellings: server.listen in the file, QUARTERMASTER_SERVER_LISTEN in the
environment, --server-listen on the command line. A flag wins over the environment, the environment
over the file, the file over the default. \`quartermaster config show\` tells where each value is from.

QUARTERMASTER_CONFIG        the configuration file
QUARTERMASTER_<SETTING>     any setting
QUARTERMASTER_<SECRET>_FILE a file that holds a secret
CREDENTIALS_DIRECTORY       secrets passed by systemd; they win over everything else
STATE_DIRECTORY             the data directory, when systemd names it
CONFIGURATION_DIRECTORY     where quartermaster.yaml is looked for
NO_COLOR, TERM=dumb         no colour`,
  "exit-codes": `0    done, or nothing to do
1    unexpected failure: a bug, or the machine
2    wrong usage, invalid input, or a confirmation that could not be asked for
3    not found
4    conflict: stale revision, wrong state, already exists
5    not permitted, or not signed in
6    unavailable; worth trying again
7    verification failed
8    finished with some failures; the report lists them
130  interrupted (Ctrl-C)
143  terminated`,
  files: `<data directory>/quartermaster.db  everything but artifacts; with -wal and -shm beside it while in use
<data directory>/artifacts         packages, named by their digest
<data directory>/keys              keys that seal secrets in the database; back them up apart from it
<data directory>/backups           backups, and copies taken before an upgrade
<data directory>/server.lock       held by the running server
quartermaster.yaml                 settings; named with --config or QUARTERMASTER_CONFIG`,
  formatting: `Results go to stdout, everything else to stderr. Tables have one row per thing; - means there is nothing.
Times are shown as ages (3h, 2m, in 5d); --wide shows them exactly and shortens nothing.

--json prints one document with snake_case members; lists are in "items". Streams print one object per
line. Times are RFC 3339 in UTC, sizes are bytes. Members are added, never renamed or removed.
Errors under --json are one object on stderr: error, reason, hint, problems, exit_code, run_id.`,
  "gateway-keys": async () => (await import("./keys/topic.ts")).keysTopic(),
};
