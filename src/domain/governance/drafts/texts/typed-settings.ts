// Reads a harness's settings of known types from an administrator's text, and writes them back into it. Pure functions, because
// a thread may run them (tasks.ts).
import { type MemberChanges, withMembers } from "../../../../platform/text/yaml-edit.ts";
import { yamlText } from "../../../../platform/text/yaml-write.ts";
import { DOCUMENT_BYTES_MAX } from "../../model.ts";
import { readSettings, SETTINGS_TOKENS_MAX } from "../../publishing/publications.ts";
import type { TimeIsOver } from "../../publishing/validation.ts";

export interface TypedSettings {
  /** every member; undefined if the text cannot be read */
  values: Readonly<Record<string, unknown>> | undefined;
  /** the text with the changes; undefined if they cannot be written into it */
  text: string | undefined;
}

/** @throws DomainError `document.too_slow` */
export function typedSettings(
  { text, changes }: { text: string; changes: MemberChanges },
  isOver?: TimeIsOver,
): TypedSettings {
  const bounds = { bytesMax: DOCUMENT_BYTES_MAX, tokensMax: SETTINGS_TOKENS_MAX, isOver };
  const changed = Object.keys(changes).length === 0 ? text : withMembers(text, changes, bounds);
  const { settings, problems } = readSettings(changed ?? text, isOver);
  return { values: problems.length > 0 ? undefined : settings, text: changed };
}

/** @param settings an object as JSON @returns it as YAML, empty for no settings */
export const settingsText = (settings: string): string =>
  settings === "{}" ? "" : yamlText(JSON.parse(settings));
