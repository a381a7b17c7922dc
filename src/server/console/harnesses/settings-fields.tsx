// The settings of a harness whose type is known, as fields beside the text that has all settings. Both edit one text: a change in
// a field is written into the text, and a setting that was changed in both places is refused.
/** @jsxImportSource preact */
import { SETTING_CHARACTERS_MAX } from "../../../domain/governance/model.ts";
import { FLAG_SETTINGS, KNOWN_SETTINGS } from "../../../domain/governance/service.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { Fields } from "../frame/kept-fields.tsx";
import { andText } from "../own/words.ts";

/** The value of each field, by name; empty for a setting that is not in the text. */
type FieldTexts = Readonly<Record<string, string>>;

export interface SettingFields {
  values: FieldTexts;
  /** the values of the text when the fields were shown */
  was: FieldTexts;
}

const LABELS: Readonly<Record<string, string>> = {
  model: "Model",
  approval_policy: "Approval policy",
  sandbox_mode: "Sandbox mode",
  reasoning_effort: "Reasoning effort",
  auto_approve: "Approve automatically",
  fast_mode: "Fast mode",
};

/** @param settings of the text @returns fields that nobody has changed */
export function fieldsFor(settings: Readonly<Record<string, unknown>>): SettingFields {
  const values = Object.fromEntries(KNOWN_SETTINGS.map((name) => [name, fieldText(settings[name])]));
  return { values, was: values };
}

/** A value that no field can show is not changed: its field is empty, and only a new value is written. */
function fieldText(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" && !/[\r\n]/.test(value) ? value : "";
}

/** @returns the fields as they were sent; undefined for a form without them */
export function fieldsIn(sent: Fields): SettingFields | undefined {
  if (sent.has_settings === undefined) return undefined;
  const named = (prefix: string) =>
    Object.fromEntries(KNOWN_SETTINGS.map((name) => [name, sent[prefix + name]?.trim() ?? ""]));
  return { values: named("set_"), was: named("was_") };
}

const changedNames = ({ values, was }: SettingFields): string[] =>
  KNOWN_SETTINGS.filter((name) => values[name] !== was[name]);

/** @returns the wanted values of the text after a change of fields */
export const changesOf = (fields: SettingFields): Readonly<Record<string, string | boolean | undefined>> =>
  Object.fromEntries(
    changedNames(fields).map((name) => {
      const text = fields.values[name];
      if (!text) return [name, undefined];
      return [name, FLAG_SETTINGS.includes(name) ? text === "yes" : text];
    }),
  );

/** @param settings of the text as it was sent @returns why a field cannot be written into it; undefined if all can */
export function fieldConflict(
  fields: SettingFields,
  settings: Readonly<Record<string, unknown>>,
): string | undefined {
  const { values } = fieldsFor(settings);
  const names = changedNames(fields).filter(
    (name) => values[name] !== fields.was[name] && values[name] !== fields.values[name],
  );
  if (names.length === 0) return undefined;
  return `the fields and the text have different values for ${andText(names)}; enter the same value in both`;
}

interface SettingsFieldsProps {
  fields: SettingFields;
  /** models that the gateway may serve to the harness */
  models: readonly string[];
}

export const SettingsFields = ({ fields: { values, was }, models }: SettingsFieldsProps) => (
  <fieldset class="beside-each-other">
    <legend>Common settings</legend>
    <Hidden name="has_settings" value="yes" />
    {KNOWN_SETTINGS.map((name) => (
      <div key={name} class="field">
        <Hidden name={`was_${name}`} value={was[name] ?? ""} />
        <label for={`set_${name}`}>{LABELS[name] ?? name}</label>
        {FLAG_SETTINGS.includes(name) ? (
          <select id={`set_${name}`} name={`set_${name}`}>
            {Object.entries({ "": "The user's choice", yes: "Yes", no: "No" }).map(([value, label]) => (
              <option key={value} value={value} selected={values[name] === value}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          <input
            id={`set_${name}`}
            name={`set_${name}`}
            value={values[name]}
            placeholder="The user's choice"
            maxLength={SETTING_CHARACTERS_MAX}
            autocomplete="off"
            spellcheck={false}
            list={name === "model" && models.length > 0 ? "models" : undefined}
          />
        )}
      </div>
    ))}
    {models.length > 0 && (
      <datalist id="models">
        {models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
    )}
  </fieldset>
);
