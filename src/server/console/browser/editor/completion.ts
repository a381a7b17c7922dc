// Completes members and known values. The server sends what is allowed at each place. Indentation determines the place
// of the cursor, because the text around it may not be valid YAML.
import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension, Text } from "@codemirror/state";

/** As the server writes them (completions.ts). */
interface Completions {
  members?: Readonly<Record<string, Completions>>;
  items?: Completions;
  values?: readonly string[];
}

/** A line up to the cursor: indentation, a dash, and a member with the beginning of its value, or the beginning of either. */
const BEGUN = /^( *)(- +)?(?:([\w-]+): +)?([\w-]*)$/;
const MEMBER = /^( *)([\w-]+):/;

/** @param shape what is allowed at each place, as JSON */
export function completing(shape: string): Extension {
  const all: Completions = JSON.parse(shape);
  return autocompletion({ override: [(context) => complete(all, context)], icons: false });
}

function complete(all: Completions, { state, pos, explicit }: CompletionContext): CompletionResult | null {
  const line = state.doc.lineAt(pos);
  const begun = BEGUN.exec(line.text.slice(0, pos - line.from));
  if (!begun) return null;
  const [, indent = "", dash, member, typed = ""] = begun;
  if (typed === "" && member === undefined && dash === undefined && !explicit) return null;
  // A list may have the same indentation as its member.
  const columns = indent.length + (dash === undefined ? 0 : 1);
  const names = [...namesAbove(state.doc, line.number, columns), ...(member === undefined ? [] : [member])];
  let place: Completions | undefined = all;
  for (const name of names) place = place?.members?.[name];
  if (dash !== undefined) place = place?.items;
  const options = [
    ...Object.entries(place?.members ?? {}).map(([label, { members, items }]) => ({
      label,
      apply: members || items ? `${label}:` : `${label}: `,
    })),
    ...(place?.values ?? []).map((label) => ({ label })),
  ];
  return options.length === 0 ? null : { from: pos - typed.length, options, validFor: /^[\w-]*$/ };
}

/** @returns the members around a line whose text begins at a column, outermost first */
function namesAbove(doc: Text, line: number, columns: number): string[] {
  const names: string[] = [];
  let left = columns;
  for (let above = line - 1; above >= 1 && left > 0; above--) {
    const [, indent = "", name] = MEMBER.exec(doc.line(above).text) ?? [];
    if (name === undefined || indent.length >= left) continue;
    names.unshift(name);
    left = indent.length;
  }
  return names;
}
