// The values of options, in a separate file so that the command tree loads nothing else from cli/commands/clients/.
import type { CountKind, Health, Sort } from "../../../src/domain/clients/model.ts";

export const HEALTHS: readonly Health[] = ["current", "outdated", "attention"];
export const COUNT_KINDS: readonly CountKind[] = ["health", "harness_version"];
export const SORTS: readonly Sort[] = [
  "last_seen_desc",
  "last_seen_asc",
  "host_asc",
  "host_desc",
  "user_asc",
  "user_desc",
  "version_asc",
  "version_desc",
];
