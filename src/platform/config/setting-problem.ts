// The input of the rules, and the problems that they report. config/rules.ts and config/proxy-rules.ts have the rules.
import { type Problem, pointerOf } from "../errors.ts";
import { fileKeyOf, type SettingName, settingOf, type Values } from "./table.ts";

/** The resolved settings, before any rule is checked. */
export interface Settings {
  /** @returns undefined also for an invalid value, which is already reported */
  get<Name extends SettingName>(name: Name): Values[Name] | undefined;
  has(name: SettingName): boolean;
  /** @returns the text of an environment variable that a setting names */
  variable(name: string): string | undefined;
}

/** @param why the setting is needed; a secret's problem names the key of its file */
export const missingSetting = (name: SettingName, why: string): Problem =>
  problem(
    name,
    settingOf(name).credential !== undefined ? `missing; ${why}: set ${fileKeyOf(name)}` : `missing; ${why}`,
  );

/** @returns the problem, prefixed with the setting's name */
export const problem = (name: SettingName, detail: string): Problem => ({
  pointer: pointerOf(name.split(".")),
  detail: `${name}: ${detail}`,
});
