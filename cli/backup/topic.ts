// The text of `quartermaster help backups`: what is in a backup, how one comes back, and how replication software goes on beside
// it. Names and numbers are those that the program uses.
import { BACKUP_SUFFIX, DATABASE_NAME, MANIFEST_NAME, SEAL_NAME } from "../../src/domain/backup/model.ts";
import { settingOf } from "../../src/platform/config/table.ts";
import { commands, type Topic, topic, yaml } from "../topic.ts";

const everyHours = settingOf("backup.every_hours").default;
const keep = settingOf("backup.keep").default;
const keepReplaced = settingOf("backup.keep_replaced").default;

/** @returns the topic, without a line break at its end */
export const backupsTopic =
  (): Topic => topic`The service makes a backup every ${everyHours} h (backup.every_hours) and keeps ${keep} (backup.keep). They go to
backups/ in the data directory, or to backup.directory: another disk is where they belong. That folder is
never made, since a missing one may be a disk that is not mounted. Under
systemd that folder needs ReadWritePaths= in a drop-in. \`backup create\` makes one at any time; those it makes are
never removed by the program.

Only backups that this installation made count towards backup.keep, by the time in their manifests.
Files of others, files that cannot be read and backups from the future are neither counted nor removed.

A backup (${BACKUP_SUFFIX}) is a tar that any tar unpacks:

${MANIFEST_NAME}      version, schema, rows of each table, ids of the keys that it needs, digests
${DATABASE_NAME}   SQLite's own copy of the database, which has passed its full check
artifacts/         packages, each named by its digest
${SEAL_NAME}    the digest of the manifest: sha256sum -c ${SEAL_NAME}

Keys are not in it. Keep a copy of keys/ apart, or of the .qmk file that \`backup create --with-keys\`
encrypts under a passphrase. Whoever has both can read every secret, so keep them in two places.

${commands(
  "run",
  "quartermaster backup verify FILE             # do all that a restore does, beside the live data",
  "quartermaster backup restore FILE --dry-run  # what would be replaced, and which keys are missing",
  "quartermaster backup restore FILE            # with the service stopped",
)}

Where the database is lost, serve and setup begin no other one: installation.json in the data directory,
or a backup, says that there was one. They print the command that restores the newest backup.
\`setup --new\` begins a new, empty installation instead.

What a restore replaces is kept in a folder replaced-<time> for ${keepReplaced} days (backup.keep_replaced); \`backup list\`
shows it, and the command that goes back to it is printed. Cut short at any moment it has either done nothing, or is finished by the next start. After
a backup was in other hands, restore it with --revoke-logins.

A database with tables, indexes, triggers or views that no migration made is refused by verify and restore, and
found by doctor: one of them may silence the audit log. Litestream's own tables are allowed.

Before an upgrade changes the schema the database is copied to backups/before-upgrade-…; all changes
are made, or none. An older executable refuses a newer database and prints the command that restores
that copy. Restore it with the older executable: a newer one upgrades it again, and says so.

Litestream, or other software that replicates the write-ahead log, may run all the while. Say so in
the configuration, so that nobody else puts the log into the database file:

${yaml("check", "database:", "  replicated: true")}

and have it follow the file, in /etc/litestream.yml (tried with Litestream 0.3.13 and 0.5):

${yaml(
  "manual: Litestream reads it; `bun run test:litestream` starts Litestream with it",
  "dbs:",
  `  - path: /var/lib/quartermaster/${DATABASE_NAME}`,
  "    replicas:",
  "      - path: /mnt/replica/quartermaster",
)}

\`status\` and \`doctor\` then say when it last copied a piece of the log. Whether that reached the replica
only its own log says.

To return to a replica: stop the service and the replication, then

${commands(
  "manual: needs Litestream; `bun run test:litestream` runs it",
  "litestream restore -o /tmp/replica.db file:///mnt/replica/quartermaster",
  "quartermaster backup restore /tmp/replica.db --data-dir /var/lib/quartermaster --confirm quartermaster",
)}

A replica has the database alone: artifacts/ and keys/ are copied by other means.`;
