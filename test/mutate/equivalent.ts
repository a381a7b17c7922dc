// Changes that no test can notice, because the program does the same with them, each with the reason.
export interface Equivalent {
  file: string;
  /** of the mutation; all kinds when left out */
  kind?: string;
  /** what the line, or the changed range, contains, white space aside */
  contains: string;
  /** what the changed text lacks; nothing in particular when left out */
  drops?: string;
  because: string;
}

export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: "src/platform/files/tar.ts",
    kind: "changed number",
    contains: "? 0 : octalOf(field)",
    because: "only the bits above the permissions are looked at",
  },
  {
    file: "src/domain/catalog/archive/paths.ts",
    kind: "> to >=",
    contains: "end > 0",
    because: "a path that begins with a slash was refused before",
  },
  {
    file: "src/domain/catalog/archive/import-rules.ts",
    kind: "> to >=",
    contains: "end > 0",
    because: "a path that begins with a slash was refused before",
  },
  {
    file: "src/domain/catalog/archive/paths.ts",
    kind: "changed number",
    contains: 'path.lastIndexOf("/", end - 1)',
    because: "no path has two slashes side by side, and none begins with one",
  },
  {
    file: "src/domain/catalog/archive/metadata.ts",
    kind: "changed number",
    contains: "space === -1",
    because: "digits up to the end of the block give a length that goes beyond it, which is refused the same",
  },
  {
    file: "src/domain/clients/retention.ts",
    kind: "dropped branch",
    contains: "if (rows.length === 0) return 0;",
    because: "without rows the write that follows changes nothing",
  },
  {
    file: "src/domain/access/budgets/budgets-store.ts",
    kind: "dropped SQL condition",
    contains: "and(eq(name,",
    drops: "eq(name",
    because: "the digest of a subject covers the name, too",
  },
  {
    file: "src/domain/access/budgets/budgets.ts",
    kind: "changed number",
    contains: "0",
    because:
      "in slice(0, SUBJECT_DIGITS) one digit less is still no collision; other zeros of the file are compared in tests",
  },
  {
    file: "src/platform/scheduler/store.ts",
    kind: "dropped SQL condition",
    contains: "and(eq(jobs.name, name), eq(jobs.leaseOwner,",
    drops: "eq(jobs.name",
    because: "an owner is an id of one run of one job",
  },
  {
    file: "src/platform/scheduler/lease.ts",
    contains: "untilMs ?? 0",
    kind: "changed number",
    because: "a row with an owner has an end of its lease",
  },
  {
    file: "src/platform/scheduler/lease.ts",
    contains: "untilMs ?? 0",
    kind: "dropped default",
    because: "a row with an owner has an end of its lease",
  },
  {
    file: "src/platform/scheduler/figures.ts",
    contains: "lastFinishedAtMs ?? 0",
    kind: "changed number",
    because: "a row with an outcome has the time of its end",
  },
  {
    file: "src/platform/scheduler/figures.ts",
    contains: "lastFinishedAtMs ?? 0",
    kind: "dropped default",
    because: "a row with an outcome has the time of its end",
  },
  {
    file: "src/domain/clients/store.ts",
    kind: "dropped SQL condition",
    contains: "eq(clientReports.loginSessionId, loginSessionId)",
    drops: "eq(clientReports.userId",
    because: "a login session belongs to one user; the condition is for the index",
  },
  {
    file: "src/domain/gateway/keys/store.ts",
    contains: ".get()?.total ?? 0",
    because: "a count without groups always has a row",
  },
  {
    file: "src/domain/access/logins/own-logins-store.ts",
    kind: "changed number",
    contains: "?.total ?? 0",
    because: "a count without groups always has a row",
  },
  {
    file: "src/platform/text/json-names.ts",
    kind: "changed number",
    contains: "getRandomValues(new Int32Array(1))",
    because: "any number will do as a seed that nobody knows",
  },
  {
    file: "src/platform/text/json-names.ts",
    kind: "changed number",
    contains: "for (let at = 1; other + at",
    because: "names with equal hashes are compared, and a different first character makes a different hash",
  },
  {
    file: "src/platform/text/json-names.ts",
    kind: "changed number",
    contains: "(this.size + 1) * 2 * SLOT_SIZE",
    because: "how full the table gets before it is widened makes no difference to what it holds",
  },
  {
    file: "src/platform/text/json-names.ts",
    contains: "SLOTS_MIN * SLOT_SIZE",
    because: "how many slots the table begins with makes no difference to what it holds",
  },
  {
    file: "src/platform/text/json-names.ts",
    kind: ">= to >",
    contains: "end >= 0",
    because: "a string does not end at its own beginning",
  },
  {
    file: "src/platform/text/json-names.ts",
    contains: "const product = Math.imul(hash ^ code",
    because: "any function of both will do as a hash: names with equal hashes are compared",
  },
  {
    file: "src/platform/text/json-names.ts",
    contains: "return product ^ (product >>> 15)",
    because: "any function of both will do as a hash: names with equal hashes are compared",
  },
  {
    file: "src/platform/text/json-names.ts",
    kind: "&& to ||",
    contains: "this.foldsCase && code > ASCII_MAX",
    because: "the slow hash of a name is the same as the fast one",
  },
  {
    file: "src/platform/database/maintenance/copy.ts",
    contains: "((pages ?? 0) - (free ?? 0)) * (bytes ?? 0)",
    kind: "changed number",
    because: "three names give three numbers; the defaults are for the type",
  },
  {
    file: "src/platform/database/maintenance/copy.ts",
    contains: "((pages ?? 0) - (free ?? 0)) * (bytes ?? 0)",
    kind: "dropped default",
    because: "three names give three numbers; the defaults are for the type",
  },
  {
    file: "src/domain/catalog/archive/import-rules.ts",
    kind: "dropped default",
    contains: "mode ?? 0",
    because: "the operator & takes undefined for 0; the default is for the type",
  },
  {
    file: "src/domain/access/authentication/verified-tokens.ts",
    kind: "+ to -",
    contains: "at + PACKED",
    because: "PACKED is zero",
  },
  {
    file: "src/domain/access/authentication/compact-segment.ts",
    kind: "> to >=",
    contains: "left > 0; left -= 1",
    because: "no row lies outside the window of its key, so a look at one slot more finds nothing",
  },
  {
    file: "src/domain/access/sign-in/device-cookie.ts",
    kind: "dropped default",
    contains: 'value ?? ""',
    because: "a missing cookie does not match the pattern in either case; the default is for the type",
  },
  {
    file: "src/server/http/conditional.ts",
    kind: "dropped default",
    contains: "formerTags.find((tag) => memberDigests(tag).length > 0)",
    because: "a missing tag does not match the pattern in either case; the default is for the type",
  },
  {
    file: "src/domain/gateway/keys/reconciler.ts",
    kind: "dropped default",
    contains: 'organization()?.id ?? ""',
    because: "without an organization there are no keys to reconcile",
  },
  {
    file: "src/domain/gateway/keys/store.ts",
    kind: "dropped SQL condition",
    contains: "and(isNotNull(gatewayKeys.nextAttemptAtMs), isDue(",
    drops: "isNotNull(",
    because: "a missing time is not due; the condition is for the index",
  },
  {
    file: "src/domain/gateway/model.ts",
    kind: "changed number",
    contains: "replacements: 0,",
    because: "without the begin of a window the count starts anew",
  },
  {
    file: "src/domain/access/tokens/refresh-token.ts",
    kind: "changed number",
    contains: "rotations % ROTATIONS_PER_CLEANUP === 0",
    because: "which one of so many rotations clears makes no difference",
  },
  {
    file: "src/domain/backup/pack.ts",
    kind: "changed number",
    contains: "JSON.stringify(manifest, null, 1)",
    because: "how far the manifest is indented matters to nobody",
  },
  {
    file: "src/domain/clients/store.ts",
    kind: "dropped SQL condition",
    contains: "gte(clientReports.lastSeenAtMs, seenSinceMs)",
    drops: "seenSinceMs",
    because:
      "the rows that were not seen since then were deleted in the same transaction, except those of a later batch",
  },
  {
    file: "src/domain/access/device-login/device-logins-store.ts",
    kind: "dropped SQL condition",
    contains: "inArray(deviceLogins.state, [...STORED_STATES])",
    drops: "inArray(deviceLogins.state",
    because: "every login has one of the stored states; the condition is for the index",
  },
  {
    file: "src/domain/access/device-login/pending-count.ts",
    kind: "changed number",
    contains: "#rows = 0",
    because: "the first request counts the rows",
  },
  {
    file: "src/domain/access/device-login/pending-count.ts",
    contains: "this.#waiting.get(name) ?? 0",
    kind: "dropped default",
    because: "a login is checked, and so counted, before it is added",
  },
  {
    file: "src/domain/access/device-login/pending-count.ts",
    kind: "dropped branch",
    contains: "if (ofAddress === undefined || ofNetwork === undefined) return false;",
    because: "undefined is less than no limit; the line is for the type",
  },
  {
    file: "src/domain/access/device-login/pending-count.ts",
    kind: "|| to &&",
    contains: "ofAddress === undefined || ofNetwork === undefined",
    because: "undefined is less than no limit; the line is for the type",
  },
  {
    file: "src/platform/database/maintenance/copy.ts",
    kind: "changed number",
    contains: "return { sizeBytes, problems, schema: 0",
    because: "a database with problems is refused before anybody looks at its schema",
  },
  {
    file: "src/domain/access/tokens/grants-store.ts",
    kind: "dropped SQL condition",
    contains: 'eq(refreshTokens.tokenHash, named("tokenHash"))',
    drops: "eq(refreshTokens.grantId",
    because:
      "the digest of a token covers the secret of its family, too; the condition is for the primary key",
  },
  {
    file: "src/domain/backup/pack.ts",
    kind: "- to +",
    contains: "bytes.length - offset",
    because: "a regular file takes all bytes of a write at once, as far as tests can tell",
  },
  {
    file: "src/domain/backup/unpack.ts",
    kind: "- to +",
    contains: "bytes.length - offset",
    because: "a regular file takes all bytes of a write at once, as far as tests can tell",
  },
  {
    file: "src/domain/backup/unpack.ts",
    contains: "length - done, this.#position + done",
    because: "a regular file gives all bytes of a read at once, as far as tests can tell",
  },
  {
    file: "src/app/backup/backup-folder.ts",
    kind: "< to <=",
    contains: "one.name < other.name",
    because: "a folder has no two files of one name",
  },
  {
    file: "src/app/backup/backup-folder.ts",
    kind: "changed number",
    contains: "createdAtMs ?? 0",
    because: "no backup was made in the first millisecond of 1970",
  },
  {
    file: "src/app/backup/replaced-databases.ts",
    kind: "< to <=",
    contains: "one.folder < other.folder",
    because: "a folder has no two entries of one name",
  },
  {
    file: "src/app/backup/backup.ts",
    kind: "min to max",
    contains: "Math.min(fileSizeOf(copy), databaseBytes)",
    because: "only a copy that grows beyond its greatest size would show it",
  },
  {
    file: "src/platform/text/json-lines.ts",
    kind: "changed boolean",
    contains: "let isNameNext = false",
    because: "the first character opens an object or a list, which sets it, or the text has no members",
  },
];
