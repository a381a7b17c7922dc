// Numbers and names that the handbook states in its sentences are those that the program uses. Whoever changes one of them changes
// the sentence, too.
import { expect, test } from "bun:test";
import { INLINE_CHARACTERS_MAX } from "../../src/document-threads.ts";
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
import { COMPARATORS_MAX } from "../../src/domain/governance/document/requirement.ts";
import { DOCUMENT_BYTES_MAX, SETTING_CHARACTERS_MAX } from "../../src/domain/governance/model.ts";
import {
  GENERATIONS_ADDED_MAX,
  HARNESS_FILE_BYTES_MAX,
  HARNESS_FILE_FORMAT,
} from "../../src/domain/harness-file.ts";
import { HARNESS_KEYS } from "../../src/domain/harnesses.ts";
import { YAML_VALUES_MAX } from "../../src/domain/yaml-scan.ts";
import { YAML_DEPTH_MAX } from "../../src/domain/yaml-source.ts";
import { handbookText } from "../../src/handbook/chapters.ts";
import { HOUR_MS, SECOND_MS } from "../../src/platform/clock.ts";
import { CONFIG_FILE_BYTES_MAX } from "../../src/platform/config/content.ts";
import { type SettingName, settingOf } from "../../src/platform/config/table.ts";
import { DRAIN_MS } from "../../src/server/listen.ts";

const MIB = 1024 * 1024;
const fallback = (name: SettingName): string => settingOf(name).default ?? "";

const STATED: readonly (readonly [chapter: string, words: string])[] = [
  ["backups", `every ${fallback("backup.every_hours")} hours (\`backup.every_hours\`)`],
  ["backups", `the newest ${fallback("backup.keep")} (\`backup.keep\`)`],
  ["backups", `kept for ${fallback("backup.keep_replaced")} days (\`backup.keep_replaced\`)`],
  ["backups", `A backup (\`${BACKUP_SUFFIX}\`)`],
  ...[MANIFEST_NAME, DATABASE_NAME, SEAL_NAME].map((name) => ["backups", `| \`${name}\` |`] as const),
  ["gateway", `next attempt waits ${RETRY_BASE_MS / SECOND_MS} seconds`],
  ["gateway", `up to ${RETRY_MAX_MS / HOUR_MS} hour.`],
  ["gateway", `by itself ${REPLACEMENTS_MAX} times in ${REPLACEMENT_WINDOW_MS / HOUR_MS} hours`],
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
  ["settings", `documents over ${INLINE_CHARACTERS_MAX / 1024} KiB`],
  ["install", `at most ${DRAIN_MS / SECOND_MS} seconds`],
];

test.each(STATED)("%s says: %s", (chapter, words) => {
  expect(handbookText(chapter)?.replaceAll("\n", " ")).toContain(words);
});
