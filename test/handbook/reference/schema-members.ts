// The members of a file format: path, type and whether they are required come from the schema, default and limits from a table of
// notes next to the constants that the reader uses. A member without a note, and a note without a member, are errors.
import { Kind, type TSchema, TypeGuard } from "@sinclair/typebox";

export interface Note {
  /** sentence fragment that starts in lower case */
  about: string;
  /** as written in a file; a member with neither default nor `isRequired` is simply absent */
  fallback?: string;
  isRequired?: true;
  limits?: string;
}

interface Member {
  path: string;
  schema: TSchema;
}

/**
 * @param skips paths whose members are described elsewhere
 * @returns Markdown: one item for each member, in the order of the schema
 */
export function membersMarkdown(
  schema: TSchema,
  notes: Readonly<Record<string, Note>>,
  skips: readonly string[] = [],
): string {
  const members = membersOf(schema, "", skips);
  const paths = members.map(({ path }) => path);
  const unknown = [
    ...Object.keys(notes).filter((path) => !paths.includes(path)),
    ...paths.filter((path) => !notes[path]),
  ];
  if (unknown.length > 0) throw new Error(`notes and schema differ at ${unknown.join(", ")}`);
  return members.map((member) => itemOf(member, notes[member.path])).join("\n");
}

const itemOf = ({ path, schema }: Member, note: Note | undefined): string => {
  const facts = [
    `Type: ${typeOf(schema)}.`,
    note?.isRequired ? "Required." : note?.fallback === undefined ? "" : `Default: \`${note.fallback}\`.`,
    note?.limits === undefined ? "" : `Limits: ${note.limits}.`,
  ];
  return `- **\`${path}\`**: ${note?.about}. ${facts.filter((fact) => fact !== "").join(" ")}`;
};

function membersOf(schema: TSchema, path: string, skips: readonly string[]): Member[] {
  if (skips.includes(path)) return [];
  if (TypeGuard.IsArray(schema)) return membersOf(schema.items, `${path}[]`, skips);
  if (TypeGuard.IsRecord(schema)) {
    const [value] = Object.values<TSchema>(schema.patternProperties);
    return value ? membersOf(value, `${path}.<key>`, skips) : [];
  }
  if (!TypeGuard.IsObject(schema)) return [];
  const found: Member[] = Object.entries(schema.properties).flatMap(([name, child]) => {
    const inner = path === "" ? name : `${path}.${name}`;
    return [{ path: inner, schema: child }, ...membersOf(child, inner, skips)];
  });
  return oncePerHarness(found);
}

/** The members of every harness are the same. */
const oncePerHarness = (members: Member[]): Member[] => {
  const named = members.map(({ path, schema }) => ({ path: path.replace(HARNESS, "$1<harness>"), schema }));
  return named.filter(({ path }, at) => named.findIndex((other) => other.path === path) === at);
};
const HARNESS = /^((?:harnesses|adapters)\.)(?:codex|claude|kimi|opencode)/;

function typeOf(schema: TSchema): string {
  if (TypeGuard.IsUnion(schema))
    return `one of ${schema.anyOf.map(({ const: word }) => `\`${word}\``).join(", ")}`;
  if (TypeGuard.IsLiteral(schema)) return `\`${schema.const}\``;
  if (TypeGuard.IsArray(schema)) return `list of ${PLURALS[schema.items[Kind]] ?? "words"}`;
  if (TypeGuard.IsRecord(schema) || TypeGuard.IsObject(schema)) return "mapping";
  return NAMES[schema[Kind]] ?? schema[Kind];
}

const NAMES: Readonly<Record<string, string>> = {
  String: "text",
  Integer: "whole number",
  Boolean: "`true` or `false`",
};
const PLURALS: Readonly<Record<string, string>> = { String: "texts", Object: "mappings", Union: "words" };
