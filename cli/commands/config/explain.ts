// `config explain`: prints the description, value and spellings of one setting. The facts are in the settings table;
// src/app/service/configuration/settings-reload.ts knows which settings a reload applies.
import { closest, distance } from "fastest-levenshtein";
import {
  RELOADABLE_SETTINGS,
  RELOADABLE_TLS_SETTINGS,
} from "../../../src/app/service/configuration/settings-reload.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import {
  fileKeyOf,
  flagOf,
  keysOf,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  variableOf,
} from "../../../src/platform/config/table.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { quoted } from "../../../src/platform/text/problem-list.ts";
import { detailsText } from "../../output/details.ts";
import type { Output } from "../../output/output.ts";

/**
 * @param spelling name of the setting in the file, in the environment or on the command line
 * @throws DomainError `config.unknown_setting`; the hint has the nearest name
 */
export function explain(config: Config, spelling: string, output: Output): void {
  const setting = documentOf(config, findSetting(spelling));
  const { about, spellings, takes_effect, ...facts } = setting;
  const text = detailsText([
    ...Object.entries(facts).map(([name, fact]) => [name.replaceAll("_", " "), fact] as const),
    ["takes effect", takes_effect === "reload" ? "at a reload (SIGHUP)" : "at a restart"],
    ["in the file", spellings.file.join(", ")],
    ["in the environment", spellings.environment.join(", ")],
    ["as a flag", spellings.flag],
    ["as a credential", spellings.credential],
  ]);
  output.result(setting, `${about}\n\n${text}`);
}

function findSetting(spelling: string): SettingName {
  const found = SETTING_NAMES.find((name) =>
    keysOf(name).some((key) => [key, variableOf(key), flagOf(key)].includes(spelling)),
  );
  if (found !== undefined) return found;
  throw new DomainError("not_found", "config.unknown_setting", `there is no setting ${quoted(spelling)}`, {
    hint: proposalFor(spelling) ?? "see `quartermaster config show`",
  });
}

/** Longer texts are not compared, because that takes quadratic time. */
export const SPELLING_LENGTH_MAX = 80;

function proposalFor(spelling: string): string | undefined {
  if (spelling === "" || spelling.length > SPELLING_LENGTH_MAX) return undefined;
  if (SETTING_NAMES.some((name) => name.startsWith(`${spelling}.`)))
    return `${spelling} is a section; \`quartermaster config show\` lists its settings`;
  const spellings = SETTING_NAMES.flatMap((name) =>
    keysOf(name).flatMap((key) => [key, variableOf(key), flagOf(key)]),
  );
  const ending = SETTING_NAMES.filter((name) => name.endsWith(`.${spelling}`));
  const nearest = closest(spelling, spellings);
  const isNear = distance(spelling, nearest) <= Math.max(2, spelling.length / 4);
  const proposals = ending.length > 0 ? ending : isNear ? [nearest] : [];
  return proposals.length === 0 ? undefined : `did you mean ${proposals.join(" or ")}?`;
}

function documentOf(config: Config, name: SettingName) {
  const { type, doc, credential, defaultVariable, ...setting } = settingOf(name);
  const { value, origin } = config.rowOf(name);
  const isSecret = credential !== undefined;
  const fallback = [defaultVariable && `$${defaultVariable}`, setting.default].filter((part) => part);
  return {
    key: name,
    about: doc,
    value,
    origin,
    default: fallback.length === 0 ? null : fallback.join(", or else "),
    accepts: isSecret ? "text" : (type.choices?.join("|") ?? type.placeholder),
    secret: isSecret,
    takes_effect:
      RELOADABLE_SETTINGS.includes(name) || RELOADABLE_TLS_SETTINGS.includes(name) ? "reload" : "restart",
    spellings: {
      file: keysOf(name),
      environment: keysOf(name).map(variableOf),
      flag: `${flagOf(isSecret ? fileKeyOf(name) : name)} <${type.placeholder}>`,
      credential: credential ?? null,
    },
  };
}
