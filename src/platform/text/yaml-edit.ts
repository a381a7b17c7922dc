// Changes single members of a YAML or JSON mapping and leaves every other character as it is: comments, order, quotes and
// indentation. The library's nodes give the position of a member; its writer would reformat the whole text.
import { isDeepStrictEqual } from "node:util";
import { Document, isMap, isNode, isScalar, type Pair } from "yaml";
import { isJsonObject } from "../json/json-object.ts";
import { ProblemList } from "./problem-list.ts";
import { parseYaml, type YamlBounds } from "./yaml-source.ts";
import { readYamlText } from "./yaml-text.ts";

/** New values by name; undefined removes the member. */
export type MemberChanges = Readonly<Record<string, string | boolean | undefined>>;

/** The replacement of a part of the text. */
interface Splice {
  from: number;
  to: number;
  text: string;
}

/** The position of a member, in UTF-16 units. */
interface Member {
  name: unknown;
  from: number;
  /** the end of the key if there is no value */
  valueFrom: number;
  to: number;
}

/**
 * @returns the text with changed members in its outermost mapping; undefined if it cannot be read, or if another value would
 * change too, such as an alias of a changed member
 */
export function withMembers(text: string, changes: MemberChanges, bounds: YamlBounds): string | undefined {
  const before = contentOf(text, bounds);
  if (before === undefined) return undefined;
  const plain = text.replace(/^\ufeff/, "");
  const contents = parseYaml(plain, new ProblemList(), bounds)?.document.contents;
  const wanted = Object.entries(changes).filter(([name, value]) => before[name] !== value);
  const changed = spliced(plain, splicesOf(plain, contents, wanted));
  const expected = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined);
  return isDeepStrictEqual(contentOf(changed, bounds), Object.fromEntries(expected)) ? changed : undefined;
}

/** @returns the members; empty for a blank text, undefined for anything but a mapping */
function contentOf(text: string, bounds: YamlBounds): Readonly<Record<string, unknown>> | undefined {
  const problems = new ProblemList();
  const { content } = readYamlText(Buffer.from(text), problems, bounds);
  if (problems.count > 0) return undefined;
  const value = content ?? {};
  return isJsonObject(value) ? value : undefined;
}

function splicesOf(
  text: string,
  contents: unknown,
  wanted: readonly (readonly [string, MemberChanges[string]])[],
): Splice[] {
  const isFlow = isMap(contents) && contents.flow === true;
  const members = isMap(contents) ? contents.items.map(memberOf) : [];
  const added: string[] = [];
  const splices: Splice[] = [];
  for (const [name, value] of wanted) {
    const at = members.findIndex((member) => member.name === name);
    const member = members[at];
    if (value === undefined) {
      if (member)
        splices.push(
          isFlow ? flowRemoval(member, members[at - 1], members[at + 1]) : blockRemoval(text, member),
        );
    } else if (member)
      splices.push(replacement(text, member, isFlow ? JSON.stringify(value) : valueText(value)));
    else
      added.push(
        isFlow ? `${JSON.stringify(name)}: ${JSON.stringify(value)}` : `${name}: ${valueText(value)}`,
      );
  }
  if (added.length === 0) return splices;
  return [...splices, isFlow ? flowInsertion(text, members, added) : blockInsertion(text, members, added)];
}

function memberOf({ key, value }: Pair<unknown, unknown>): Member {
  const [from, keyTo] = rangeOf(key) ?? [0, 0];
  const [valueFrom, to] = rangeOf(value) ?? [keyTo, keyTo];
  return { name: isScalar(key) ? key.value : undefined, from, valueFrom, to };
}

const rangeOf = (node: unknown): readonly [from: number, to: number] | undefined =>
  isNode(node) && node.range ? [node.range[0], node.range[1]] : undefined;

/** @returns the value as the library writes it in a block, with quotes where needed */
const valueText = (value: string | boolean): string =>
  new Document(value, { schema: "core" }).toString({ lineWidth: 0 }).trimEnd();

/** A missing value has no space around it; the value of a block ends with its line. */
function replacement(text: string, { valueFrom: from, to }: Member, value: string): Splice {
  const before = text[from - 1] === ":" ? " " : "";
  const isBlock = from < to && text[to - 1] === "\n";
  const after = isBlock ? "\n" : from === to && text[to] === "#" ? " " : "";
  return { from, to, text: before + value + after };
}

/** Comments above the member stay; a comment after its value is replaced with it. */
function blockRemoval(text: string, { from, to }: Member): Splice {
  const rest = text[to - 1] === "\n" ? "" : (/^[ \t]*(?:#[^\n]*)?\n?/.exec(text.slice(to))?.[0] ?? "");
  return { from: text.lastIndexOf("\n", from - 1) + 1, to: to + rest.length, text: "" };
}

function flowRemoval({ from, to }: Member, former: Member | undefined, next: Member | undefined): Splice {
  if (next) return { from, to: next.from, text: "" };
  return { from: former?.to ?? from, to, text: "" };
}

/** Adds lines at the end, because a comment above the first member may belong to it. */
function blockInsertion(text: string, [first]: readonly Member[], added: readonly string[]): Splice {
  const indentation = first ? text.slice(text.lastIndexOf("\n", first.from - 1) + 1, first.from) : "";
  const start = text === "" || text.endsWith("\n") ? "" : "\n";
  const lines = added.map((line) => `${indentation}${line}\n`);
  return { from: text.length, to: text.length, text: start + lines.join("") };
}

function flowInsertion(text: string, members: readonly Member[], added: readonly string[]): Splice {
  const [first, last] = [members[0], members.at(-1)];
  if (!first || !last)
    return { from: text.indexOf("{") + 1, to: text.indexOf("{") + 1, text: added.join(", ") };
  const blank = /\n[ \t]*$/.exec(text.slice(0, first.from))?.[0] ?? " ";
  return { from: last.to, to: last.to, text: added.map((member) => `,${blank}${member}`).join("") };
}

const spliced = (text: string, splices: readonly Splice[]): string =>
  splices
    .toSorted((one, other) => other.from - one.from)
    .reduce((done, { from, to, text: part }) => done.slice(0, from) + part + done.slice(to), text);
