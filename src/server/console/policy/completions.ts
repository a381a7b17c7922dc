// Completions of the editor: members and known values of a text, from the schema in the domain.
import { type TSchema, TypeGuard } from "@sinclair/typebox";
import { POLICY_TEXT, SETTINGS_TEXT } from "../../../domain/governance/service.ts";

/** The values that are allowed at one place of a text. */
interface Completions {
  /** of an object, by name */
  members?: Readonly<Record<string, Completions>>;
  /** of each entry of a list */
  items?: Completions;
  /** of a value with a fixed choice */
  values?: readonly string[];
}

function completionsOf(schema: TSchema): Completions {
  if (TypeGuard.IsObject(schema)) {
    const members = Object.entries(schema.properties).map(([name, one]) => [name, completionsOf(one)]);
    return { members: Object.fromEntries(members) };
  }
  if (TypeGuard.IsArray(schema)) return { items: completionsOf(schema.items) };
  if (TypeGuard.IsBoolean(schema)) return { values: ["true", "false"] };
  const choices = TypeGuard.IsUnion(schema) ? schema.anyOf : [schema];
  const values = choices.filter((one) => TypeGuard.IsLiteral(one)).map((one) => String(one.const));
  return values.length > 0 ? { values } : {};
}

/** Attributes of a text area that the script covers with an editor. */
const editorOf = (kind: "policy" | "settings", text: TSchema) => ({
  "data-editor": kind,
  "data-completions": JSON.stringify(completionsOf(text)),
});

export const POLICY_EDITOR = editorOf("policy", POLICY_TEXT);
export const SETTINGS_EDITOR = editorOf("settings", SETTINGS_TEXT);
