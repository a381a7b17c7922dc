// The table of settings. The files in settings/ define the name, type, default, credential and one line of documentation of
// each. Help texts, `config show` and the TypeScript type of every value derive from the table. config/sources.ts resolves the
// values; config/types.ts parses them.

import { ACCESS_SETTINGS } from "./settings/access.ts";
import { CONSOLE_SETTINGS } from "./settings/console.ts";
import { CONTENT_SETTINGS } from "./settings/content.ts";
import { GATEWAY_SETTINGS } from "./settings/gateway.ts";
import { IDENTITY_SETTINGS } from "./settings/identity.ts";
import { INFERENCE_SETTINGS } from "./settings/inference.ts";
import { OBJECT_STORE_SETTINGS } from "./settings/object-store.ts";
import { PROVISIONER_SETTINGS } from "./settings/provisioner.ts";
import { RETENTION_SETTINGS } from "./settings/retention.ts";
import { SERVICE_SETTINGS } from "./settings/service.ts";
import { SESSION_SETTINGS } from "./settings/sessions.ts";
import type { Setting, Settings } from "./settings/setting.ts";
import { STANDBY_SETTINGS } from "./settings/standby.ts";
import { TRACING_SETTINGS } from "./settings/tracing.ts";

/** Every setting. The parts before the last dot are nested sections of the file. Each file in `settings/` lists its sections. */
const SETTINGS = {
  ...SERVICE_SETTINGS,
  ...CONSOLE_SETTINGS,
  ...CONTENT_SETTINGS,
  ...RETENTION_SETTINGS,
  ...TRACING_SETTINGS,
  ...SESSION_SETTINGS,
  ...OBJECT_STORE_SETTINGS,
  ...STANDBY_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...ACCESS_SETTINGS,
  ...GATEWAY_SETTINGS,
  ...INFERENCE_SETTINGS,
  ...PROVISIONER_SETTINGS,
} satisfies Settings;

export type SettingName = keyof typeof SETTINGS;

/** The value of each setting, by name; undefined only if the table has no default. */
export type Values = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** Top-level keys of the file that other parts of the program parse. */
export const SECTIONS = ["governance", "package_catalog"] as const;

const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS).filter(isSettingName);

/** @returns the setting, without the type of its value */
export const settingOf = (name: SettingName): Setting<unknown> => SETTINGS[name];

/** @returns the keys of a setting in the file; a secret has a second one, `<name>_file`, and only that one is a flag */
export const keysOf = (name: SettingName): readonly string[] =>
  settingOf(name).credential === undefined ? [name] : [name, fileKeyOf(name)];

/** @returns the key for the path of a secret file: `scim.token` gives `scim.token_file` */
export const fileKeyOf = (name: SettingName): string => `${name}_file`;

/** @returns the environment variable: `server.listen` gives `QUARTERMASTER_SERVER_LISTEN` */
export const variableOf = (key: string): string => `QUARTERMASTER_${key.replaceAll(".", "_").toUpperCase()}`;

/** @returns the flag: `server.public_url` gives `--server-public-url` */
export const flagOf = (key: string): string => `--${key.replaceAll(/[._]/g, "-")}`;

/** @returns commander's name for the flag: `server.public_url` gives `serverPublicUrl` */
export const attributeOf = (key: string): string =>
  key.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** One option for commander. Commander never gets a default, or every value would appear to come from a flag. */
export interface SettingOption {
  /** flag and placeholder: `--server-listen <address>` */
  readonly flags: string;
  readonly doc: string;
  /** empty if there is no default */
  readonly defaultText: string;
  /** the values to choose from, if the flag does not list them */
  readonly choices?: readonly string[];
}

/** The option that names the configuration file; its variable is QUARTERMASTER_CONFIG. */
export const CONFIG_OPTION: SettingOption = {
  flags: "--config <path>",
  doc: "configuration file",
  defaultText: "",
};

/** @returns one option for each of the settings, in the order of the table; a secret has only its `-file` option */
export const settingOptions = (wanted: readonly SettingName[] = SETTING_NAMES): readonly SettingOption[] =>
  SETTING_NAMES.filter((name) => wanted.includes(name)).map((name) => {
    const setting = settingOf(name);
    const isSecret = setting.credential !== undefined;
    const key = isSecret ? fileKeyOf(name) : name;
    return {
      flags: `${flagOf(key)} <${setting.type.placeholder}>`,
      doc: isSecret ? `file that holds the ${setting.doc}` : setting.doc,
      defaultText: setting.default ?? "",
      ...(setting.type.choices && { choices: setting.type.choices }),
    };
  });
