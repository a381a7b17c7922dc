// The names of limits end in _MAX. A test imports each limit, to test a value below, at and above it.
import { expect, test } from "bun:test";
import { readSources, type Source, sourceOf } from "../support/source.ts";

const LIMIT = /^(?:export )?const (?<name>[A-Z][A-Z0-9_]*_MAX)\b/gm;

const limitsIn = ({ path, code }: Source): string[] =>
  [...code.matchAll(LIMIT)].map(({ groups }) => `${groups?.name} of ${path}`);

/** Limits without a test, as `NAME of FILE`, by the reason. */
const UNTESTED: Readonly<Record<string, readonly string[]>> = {
  "a cache; its size changes no response": [
    "BUCKETS_MAX of src/domain/inference/admission/admission.ts",
    "CACHED_ROWS_MAX of src/domain/gateway/keys/keys.ts",
    "EXPECTATIONS_KEPT_MAX of src/domain/clients/verdict/verdict-cache.ts",
    "FACTS_KEPT_MAX of src/domain/catalog/sources/kept-archives.ts",
    "TOKENS_MAX of src/domain/catalog/connections/hosts/app-tokens.ts",
    "KEPT_MAX of src/domain/scim/schema/values.ts",
    "KNOWN_TOKENS_MAX of src/domain/inference/admission/token-verifier.ts",
    "VERSIONS_KEPT_MAX of src/domain/clients/verdict/expectations.ts",
    "VIEW_BYTES_KEPT_MAX of src/domain/governance/delivery/audience-groups.ts",
  ],
  "one step of a loop that continues": [
    "ARTIFACT_PAGE_MAX of src/domain/catalog/store.ts",
    "BATCH_SUMS_MAX of src/domain/inference/usage/pending-usage-sums-store.ts",
    "LABELS_MAX of src/domain/audit/redaction-store.ts",
    "LAST_PAGES_MAX of src/platform/database/checkpoints.ts",
    "LINKS_MAX of src/domain/audit/store.ts",
    "CONCURRENT_CHECKPOINTS_MAX of src/platform/database/checkpoints.ts",
  ],
  "bounds a statement or an answer above what other limits allow": [
    "ADMINISTRATORS_MAX of src/domain/identity/users/password-administrators-store.ts",
    "RESPONSE_BYTES_MAX of src/app/installation/connections/mirroring.ts",
    "ARTIFACTS_PER_PACKAGE_MAX of src/domain/catalog/store.ts",
    "COMMENTS_MAX of src/domain/governance/erase-store.ts",
    "KEYS_MAX of src/domain/shared/signing-keys/signing-key-store.ts",
    "PROBLEM_CODES_MAX of src/domain/gateway/keys/store.ts",
    "OWNERS_MAX of src/domain/governance/delivery/artifact-uses-store.ts",
    "PROTECTED_MAX of src/domain/identity/store.ts",
    "ROWS_MAX of src/domain/inference/models/store.ts",
    "SAME_BYTES_MAX of src/domain/sessions/uploads/upload-store.ts",
    "TOTALS_MAX of src/domain/sessions/store.ts",
  ],
  "a property of a format, of the runtime or of another file, not a choice": [
    "HOSTNAME_LENGTH_MAX of src/domain/audit/forwarding/syslog-receiver.ts",
    "MESSAGE_ID_LENGTH_MAX of src/domain/audit/forwarding/syslog-receiver.ts",
    "SEQUENCE_MAX of src/domain/audit/forwarding/syslog-receiver.ts",
    "ASCII_MAX of src/platform/json/names.ts",
    "BACKUP_SECONDS_MAX of src/app/monitoring/alert-rules.ts",
    "REPLICA_CHECK_SECONDS_MAX of src/app/monitoring/alert-rules.ts",
    "TERM_NUMBER_MAX of src/app/standby/terms.ts",
    "CODE_POINT_MAX of src/domain/scim/filter/shape.ts",
    "PATH_BYTES_MAX of src/domain/sessions/transcript/bundle.ts",
    "KEY_BYTES_MAX of src/domain/inference/bodies/model-scanner.ts",
    "KEY_NUMBER_MAX of src/platform/crypto/sealing-keys.ts",
    "LFS_POINTER_BYTES_MAX of src/domain/catalog/mirroring/host-archive.ts",
    "RUNTIME_BODY_BYTES_MAX of src/server/listener/listen.ts",
    "VALUE_BYTES_MAX of src/domain/inference/bodies/model-scanner.ts",
  ],
  "a time or a number of tries after which something else takes over": [
    "ATTEMPTS_MAX of src/server/routes/catalog/catalog.ts",
    "GAP_MS_MAX of src/platform/database/commit-grouping.ts",
    "JOINS_MAX of src/domain/governance/deployment/deployment.ts",
    "READING_MS_MAX of src/app/documents/document-threads.ts",
    "SEARCH_MS_MAX of src/domain/inference/log/model.ts",
    "TASK_MS_MAX of src/app/documents/document-threads.ts",
    "INSPECTION_MS_MAX of src/domain/catalog/connections/hosts/requests.ts",
    "READERS_MAX of src/app/transcripts/reader-threads.ts",
    "RETRY_SECONDS_MAX of src/domain/catalog/connections/errors.ts",
    "SILENT_SECONDS_MAX of src/domain/catalog/connections/git/git-settings.ts",
    "THREADS_MAX of src/app/documents/document-threads.ts",
    "PROCESSES_MAX of src/app/installation/connections/mirroring.ts",
    "UNFINISHED_MS_MAX of src/domain/inference/log/export.ts",
  ],
  "cuts what a person reads": [
    "AUDITED_IDS_MAX of src/domain/scim/groups/members.ts",
    "DESCRIPTION_COLUMN_MAX of cli/command.ts",
    "FILES_LISTED_MAX of cli/commands/packages/update.ts",
    "MIRRORS_LISTED_MAX of src/domain/catalog/mirroring/mirror-store.ts",
    "MESSAGE_LENGTH_MAX of src/app/standby/litestream.ts",
    "ERROR_LENGTH_MAX of src/domain/audit/forwarding/forwarding.ts",
    "LEFT_SHOWN_MAX of cli/commands/identities/move.ts",
    "NAMED_MAX of cli/bulk.ts",
    "NAMED_MAX of src/domain/scim/bulk/run.ts",
    "NAMED_MAX of src/domain/scim/groups/unknown-members.ts",
    "PROBLEMS_MAX of src/domain/catalog/bundles/bundle-read.ts",
    "PROBLEMS_MAX of src/domain/scim/bulk/request.ts",
    "SHOWN_CHARACTERS_MAX of src/app/demo/http.ts",
    "SHOWN_CHARACTERS_MAX of src/domain/scim/groups/unknown-members.ts",
    "SHOWN_MAX of cli/commands/scim/status.ts",
  ],
  "takes seconds to reach; catalog-document.test.ts tries the bound with a smaller number": [
    "CONFIG_TOKENS_MAX of src/platform/config/content.ts",
  ],
};

/** @returns limits that no test imports, as `name of path` */
const untestedIn = (sources: readonly Source[], tests: readonly Source[]): string[] => {
  const tested = new Set(
    tests.flatMap(({ text, imports }) => {
      const names = text.match(/\b[A-Z][A-Z0-9_]*_MAX\b/g) ?? [];
      return imports.flatMap(({ target }) => names.map((name) => `${name} of ${target}`));
    }),
  );
  return sources.flatMap(limitsIn).filter((limit) => !tested.has(limit));
};

const LISTED = new Set(Object.values(UNTESTED).flat());
const sources = await readSources(["src", "cli"]);
const tests = await readSources(["test"]);

test("a test imports every limit, unless the limit is listed with a reason", () => {
  expect(untestedIn(sources, tests).filter((limit) => !LISTED.has(limit))).toEqual([]);
});

test("every listed limit exists", () => {
  const limits = new Set(sources.flatMap(limitsIn));
  expect([...LISTED].filter((limit) => !limits.has(limit))).toEqual([]);
});

test("a limit that no test imports is detected", () => {
  const source = sourceOf("src/a.ts", "export const ROWS_MAX = 5;\nconst NAMES_MAX = 3;");
  const proof = sourceOf("test/a.test.ts", 'import { ROWS_MAX } from "../src/a.ts";');
  expect(untestedIn([source], [proof])).toEqual(["NAMES_MAX of src/a.ts"]);
  expect(untestedIn([source], [])).toEqual(["ROWS_MAX of src/a.ts", "NAMES_MAX of src/a.ts"]);
});
