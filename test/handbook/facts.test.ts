// The numbers and names in the handbook's sentences are those of the program. If you change one of them, change the sentence, too.
import { expect, test } from "bun:test";
import { PERMANENT_FAILURE_EXITS } from "../../cli/exit.ts";
import { INLINE_CHARACTERS_MAX } from "../../src/app/documents/document-threads.ts";
import { CONFIRMATION_TTL_MS } from "../../src/domain/access/second-factor/model.ts";
import { REFRESH_GRACE_SECONDS } from "../../src/domain/access/tokens/refresh-token.ts";
import { OAUTH_CLIENT_ID } from "../../src/domain/access/wire.ts";
import { BACKUP_SUFFIX, DATABASE_NAME, MANIFEST_NAME, SEAL_NAME } from "../../src/domain/backup/model.ts";
import {
  CATALOG_FILE_BYTES_MAX,
  PACKAGES_MAX,
  PATH_BYTES_MAX,
  PATH_COMPONENTS_MAX,
} from "../../src/domain/catalog/model.ts";
import {
  REPLACEMENT_WINDOW_MS,
  REPLACEMENTS_MAX,
  RETRY_BASE_MS,
  RETRY_MAX_MS,
} from "../../src/domain/gateway/model.ts";
import {
  ALIAS_CHARS_MAX,
  CREDENTIAL_CHARS_MAX,
  EXTERNAL_ID_CHARS_MAX,
  METADATA_BYTES_MAX,
  RESPONSE_BYTES_MAX,
} from "../../src/domain/gateway/provisioners/executable/executable-protocol.ts";
import {
  DISPLAY_NAME_CHARACTERS_MAX,
  LISTING_CODES,
  MODEL_METADATA_BYTES_MAX,
  MODELS_LISTED_MAX,
} from "../../src/domain/gateway/provisioners/model-listing.ts";
import { PROVISION_REASONS, PROVISIONER_CODES } from "../../src/domain/gateway/provisioners/provisioner.ts";
import { ALIAS_PREFIX } from "../../src/domain/gateway/wire.ts";
import { DOCUMENT_BYTES_MAX, SETTING_CHARACTERS_MAX } from "../../src/domain/governance/model.ts";
import { COMPARATORS_MAX } from "../../src/domain/governance/versions/requirement.ts";
import {
  GENERATIONS_ADDED_MAX,
  HARNESS_FILE_BYTES_MAX,
  HARNESS_FILE_FORMAT,
} from "../../src/domain/harnesses/harness-file.ts";
import { HARNESS_KEYS } from "../../src/domain/harnesses/harnesses.ts";
import { MODEL_STATES } from "../../src/domain/inference/models/model.ts";
import { LIFECYCLE_RULE_DELAY_DAYS } from "../../src/domain/sessions/limits.ts";
import { MODEL_ID_CHARACTERS_MAX } from "../../src/domain/shared/model-ids.ts";
import { SSO_REASONS } from "../../src/domain/sso/service.ts";
import { handbookText } from "../../src/handbook/chapters.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/platform/clock.ts";
import { CONFIG_FILE_BYTES_MAX } from "../../src/platform/config/content.ts";
import { type SettingName, settingOf } from "../../src/platform/config/table.ts";
import { PASSWORD_COST } from "../../src/platform/crypto/passwords.ts";
import { FREE_BYTES_MIN } from "../../src/platform/files/disk.ts";
import { YAML_VALUES_MAX } from "../../src/platform/text/yaml-scan.ts";
import { YAML_DEPTH_MAX } from "../../src/platform/text/yaml-source.ts";
import { BODY_BYTES_MAX, UNAUTHENTICATED_BODY_BYTES_MAX } from "../../src/server/http/bodies/body.ts";
import { BODY_TIMES } from "../../src/server/http/bodies/body-end.ts";
import { DRAIN_MS } from "../../src/server/listener/listen.ts";
import { KEEPALIVE_MS } from "../../src/server/policy-api/revision-streams.ts";
import { CHECKS } from "../../src/server/readiness.ts";

const MIB = 1024 * 1024;
const fallback = (name: SettingName): string => settingOf(name).default ?? "";

const STATED: readonly (readonly [chapter: string, words: string])[] = [
  ...(
    [
      "access.browser_session_ttl_seconds",
      "access.device_code_ttl_seconds",
      "access.refresh_token_ttl_seconds",
      "access.access_token_ttl_seconds",
      "gateway.inference_jwt.token_ttl_seconds",
    ] as const
  ).map((name) => ["login-sessions", `| ${fallback(name)} seconds`] as const),
  ["login-sessions", `within the last ${CONFIRMATION_TTL_MS / MINUTE_MS} minutes`],
  ["backups", `every ${fallback("backup.every_hours")} hours (\`backup.every_hours\`)`],
  ["backups", `the newest ${fallback("backup.keep")} (\`backup.keep\`)`],
  ["backups", `kept for ${fallback("backup.keep_replaced")} days (\`backup.keep_replaced\`)`],
  // SES-45
  ["object-store", `expire objects ${LIFECYCLE_RULE_DELAY_DAYS} days after \`sessions.retention_days\``],
  [
    "object-store",
    `of ${fallback("sessions.retention_days")} days, after ${Number(fallback("sessions.retention_days")) + LIFECYCLE_RULE_DELAY_DAYS} days`,
  ],
  ["object-store", "useful only as a fallback"],
  ["backups", `A backup (\`${BACKUP_SUFFIX}\`)`],
  ...[MANIFEST_NAME, DATABASE_NAME, SEAL_NAME].map((name) => ["backups", `| \`${name}\` |`] as const),
  ["gateway", `next attempt follows after ${RETRY_BASE_MS / SECOND_MS} seconds`],
  ["gateway", `up to ${RETRY_MAX_MS / HOUR_MS} hour.`],
  ["gateway", `automatically ${REPLACEMENTS_MAX} times in ${REPLACEMENT_WINDOW_MS / HOUR_MS} hours`],
  ["harness-file", `at most ${HARNESS_FILE_BYTES_MAX} bytes`],
  ["harness-file", `up to ${GENERATIONS_ADDED_MAX} new generations`],
  ["harness-file", `must be \`${HARNESS_FILE_FORMAT}\``],
  ...HARNESS_KEYS.map((key) => ["harness-file", `\`${key}\``] as const),
  [
    "settings",
    `The file may have ${CONFIG_FILE_BYTES_MAX / MIB} MiB, ${YAML_DEPTH_MAX} levels and ${YAML_VALUES_MAX.toLocaleString("en-US")} values`,
  ],
  ["policy-file", `at most ${DOCUMENT_BYTES_MAX / MIB} MiB as JSON`],
  ["policy-file", `Up to ${COMPARATORS_MAX} comparators`],
  ["policy-file", `text of up to ${SETTING_CHARACTERS_MAX} characters`],
  ["catalog-file", `up to ${PACKAGES_MAX} packages, and the file up to ${CATALOG_FILE_BYTES_MAX / MIB} MiB`],
  ["catalog-file", `up to ${PATH_BYTES_MAX} bytes and ${PATH_COMPONENTS_MAX} parts`],
  ["workstations", `${fallback("access.poll_interval_seconds")} seconds (\`access.poll_interval_seconds\`)`],
  [
    "workstations",
    `after ${fallback("access.device_code_ttl_seconds")} seconds (\`access.device_code_ttl_seconds\`)`,
  ],
  ["workstations", `valid for ${fallback("access.access_token_ttl_seconds")} seconds`],
  ["workstations", `valid for ${fallback("access.refresh_token_ttl_seconds")} seconds`],
  ["workstations", `still works for ${REFRESH_GRACE_SECONDS} seconds`],
  ["workstations", `${fallback("clients.retention_days")} days after its last report`],
  ["workstations", `may begin ${fallback("limits.device_codes_per_address")} device logins`],
  ["workstations", `address may have ${fallback("limits.pending_logins_per_address")} logins`],
  ["workstations", `IPv6 /48) may have ${fallback("limits.pending_logins_per_network")}.`],
  ["workstations", `"client_id": "${OAUTH_CLIENT_ID}"`],
  ["identity-provider", `may send ${fallback("scim.requests_per_second")} requests a second`],
  ["identity-provider", `and ${fallback("scim.requests_burst")} in a burst`],
  ["identity-provider", `at most ${fallback("scim.page_max")} users or groups`],
  ["gateway", `up to ${CREDENTIAL_CHARS_MAX} printable characters`],
  ["gateway", `key at the gateway; 1 to ${EXTERNAL_ID_CHARS_MAX} characters`],
  ["gateway", `name for people, 1 to ${ALIAS_CHARS_MAX} characters`],
  ["gateway", `any object up to ${METADATA_BYTES_MAX} bytes`],
  ["gateway", `in requests; 1 to ${MODEL_ID_CHARACTERS_MAX} characters`],
  ["gateway", `name for people, up to ${DISPLAY_NAME_CHARACTERS_MAX} characters`],
  ["gateway", `any object up to ${MODEL_METADATA_BYTES_MAX} bytes, or null`],
  ["gateway", `up to ${MODELS_LISTED_MAX} models`],
  ...LISTING_CODES.map((name) => ["gateway", `\`${name}\``] as const),
  ...MODEL_STATES.map((name) => ["inference", `| \`${name}\` |`] as const),
  ["gateway", `may have ${RESPONSE_BYTES_MAX / MIB} MiB`],
  ["gateway", `alias \`${ALIAS_PREFIX}:ADDRESS\``],
  ...PROVISIONER_CODES.map((name) => ["gateway", `| \`${name}\` |`] as const),
  ...PROVISION_REASONS.map((name) => ["gateway", `\`${name}\``] as const),
  ["install", `bodies of ${BODY_BYTES_MAX / MIB} MiB`],
  ["install", `than the ${KEEPALIVE_MS / SECOND_MS} seconds`],
  ["observe", `less than ${FREE_BYTES_MIN / MIB} MiB`],
  [
    "observe",
    `are ${CHECKS.slice(0, -1)
      .map((name) => `\`${name}\``)
      .join(", ")} and \`${CHECKS.at(-1)}\``,
  ],
  [
    "security",
    `at most ${UNAUTHENTICATED_BODY_BYTES_MAX / 1024} KiB and must arrive within ${BODY_TIMES.unauthenticatedMs / SECOND_MS} seconds`,
  ],
  ["capacity", `${PASSWORD_COST.memoryKib / 1024} MiB of memory`],
  [
    "troubleshoot",
    `after exit codes ${PERMANENT_FAILURE_EXITS.slice(0, -1).join(", ")} and ${PERMANENT_FAILURE_EXITS.at(-1)}`,
  ],
  ...SSO_REASONS.map((reason) => ["troubleshoot", `| \`${reason}\` |`] as const),
  ["identity-provider", `/api/auth/callback/${fallback("identity.oidc.provider_id")}\``],
  ["settings", `documents over ${INLINE_CHARACTERS_MAX / 1024} KiB`],
  ["install", `at most ${DRAIN_MS / SECOND_MS} seconds`],
];

test.each(STATED)("%s states: %s", (chapter, words) => {
  expect(handbookText(chapter)?.replaceAll("\n", " ")).toContain(words);
});
