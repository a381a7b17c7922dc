// The reference of settings, made from their table.

import {
  RELOADABLE_SETTINGS,
  RELOADABLE_TLS_SETTINGS,
} from "../../../src/app/service/configuration/settings-reload.ts";
import {
  fileKeyOf,
  flagOf,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  variableOf,
} from "../../../src/platform/config/table.ts";

/** @returns Markdown with one heading for each section of the file */
export function settingsMarkdown(): string {
  const groups = Map.groupBy(SETTING_NAMES, (name) => (name.includes(".") ? name.split(".")[0] : "general"));
  return [...groups].map(([group, names]) => `### ${group}\n\n${names.map(entryOf).join("\n")}`).join("\n\n");
}

function entryOf(name: SettingName): string {
  const { doc, credential, defaultVariable, ...setting } = settingOf(name);
  const key = credential === undefined ? name : fileKeyOf(name);
  const fallback = setting.default ? `\`${setting.default}\`` : "none";
  const variable = defaultVariable === undefined ? "" : `\`$${defaultVariable}\`, else `;
  const facts =
    credential === undefined
      ? `Type: ${typeOf(name)}. Default: ${variable}${fallback}.`
      : `Secret; systemd credential \`${credential}\`.`;
  const takesEffect = [...RELOADABLE_SETTINGS, ...RELOADABLE_TLS_SETTINGS].includes(name)
    ? "Takes effect at a reload."
    : "";
  const spellings = [key, variableOf(key), flagOf(key)].map((spelling) => `\`${spelling}\``).join(", ");
  return `- **${name}**: ${doc}. ${[facts, takesEffect].join(" ").trim()}\n  ${spellings}`;
}

/**
 * @returns the accepted values as the type's error message describes them; for a list the placeholder, because the
 * message describes an item
 */
function typeOf(name: SettingName): string {
  const { type } = settingOf(name);
  const reading = type.read("\u0000", "/");
  const wrong = "wrong" in reading ? reading.wrong : "";
  return wrong.startsWith("must be ") ? wrong.slice("must be ".length) : `\`${type.placeholder}\``;
}
