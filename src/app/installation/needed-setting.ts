// Reads a setting that a rule of platform/config/rules.ts has already required.
import type { Config } from "../../platform/config/config.ts";
import type { SettingName, Values } from "../../platform/config/table.ts";
import { invariant } from "../../platform/errors.ts";

/** @returns the value of a setting that has one, or the settings would not have loaded */
export function needed<Name extends SettingName>(config: Config, name: Name): NonNullable<Values[Name]> {
  const value = config.get(name);
  invariant(value !== undefined && value !== null, `${name} was required when the settings were loaded`);
  return value;
}
