// An MCP server as entered in the form, which works without JavaScript: each press of a button sends the whole form, and the
// response has the rows moved, added or removed. These presses save nothing.
import { MCP_ARGUMENTS_MAX, type McpServer } from "../../../domain/governance/model.ts";
import type { PlacedServer } from "../../../domain/governance/service.ts";
import { HIDDEN } from "../../../domain/governance/shown/hidden-secrets.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import { type Problem, pointerOf, tokensOf } from "../../../platform/errors.ts";
import { type Fields, WITHHELD_FIELDS_FIELD } from "../frame/kept-fields.tsx";
import { withoutReturns } from "../long-form.ts";

export interface Variable {
  name: string;
  /** as entered; empty for a kept one */
  value: string;
  /** keeps the value in the draft without showing it: `referenceTo` the variable of the draft */
  kept?: string | undefined;
}

export interface McpEntry {
  name: string;
  /** remote: has a URL; local: has a command */
  isRemote: boolean;
  command: string;
  args: readonly string[];
  variables: readonly Variable[];
  url: string;
  transport: string;
  harnesses: readonly HarnessKey[];
  isEnabled: boolean;
}

export const NEW_ENTRY: McpEntry = {
  name: "",
  isRemote: false,
  command: "",
  args: [],
  variables: [],
  url: "",
  transport: "",
  harnesses: [],
  isEnabled: true,
};

/** Fields with the value of a variable. No page sends them back. */
export const VARIABLE_VALUE = /^env_value\d+$/;

/** JSON is never empty, has no line end, and differs from HELD_BACK. */
const referenceTo = (name: string): string => JSON.stringify(name);

/** Refers to no variable: the value was entered in an ended session, and the page of the refusal did not send it back. */
const HELD_BACK = "held back";

/** @returns a server of the draft for editing, without the values of its variables */
export const entryOf = ({ server, harnesses }: PlacedServer): McpEntry => ({
  name: server.name,
  isRemote: server.url !== undefined,
  command: server.command ?? "",
  args: server.args ?? [],
  variables: Object.entries(server.env ?? {}).map(([name, value]) => ({
    name,
    value: "",
    ...(value !== "" && { kept: referenceTo(name) }),
  })),
  url: server.url ?? "",
  transport: server.transport ?? "",
  harnesses,
  isEnabled: !server.disabled,
});

/** @returns the values that the form shows; HIDDEN for a kept one */
export const shownTexts = ({ command, url, args, variables }: McpEntry): string[] => [
  ...[command, url, ...args],
  ...variables.map(({ kept, value }) => (kept === undefined ? value : HIDDEN)),
];

/** @param fields of the form, without empty ones: `args` and `variables` are the numbers of rows */
export function entryIn(fields: Fields): McpEntry {
  const text = (name: string): string => withoutReturns(fields[name] ?? "");
  const lost = (fields[WITHHELD_FIELDS_FIELD] ?? "").split(" ");
  return {
    name: text("name").trim(),
    isRemote: fields.kind === "remote",
    command: text("command").trim(),
    args: rowsIn(fields.args).map((at) => text(`arg${at}`)),
    variables: rowsIn(fields.variables).map((at) => ({
      name: text(`env_name${at}`).trim(),
      value: text(`env_value${at}`),
      kept: lost.includes(`env_value${at}`) ? HELD_BACK : fields[`env_kept${at}`],
    })),
    url: text("url").trim(),
    transport: text("transport").trim(),
    harnesses: HARNESS_KEYS.filter((key) => fields[`harness_${key}`] !== undefined),
    isEnabled: fields.enabled !== undefined,
  };
}

const rowsIn = (count: string | undefined): number[] =>
  Array.from({ length: Math.min(Number(/^\d{1,4}$/.exec(count ?? "0")?.[0] ?? 0), MCP_ARGUMENTS_MAX) }).map(
    (_, at) => at,
  );

const ROW_ACTS = ["up", "down", "drop_arg", "drop_env", "show_env", "new_env", "add_arg", "add_env"] as const;

/** The press of a button that changes or adds a row. */
export interface RowAct {
  kind: (typeof ROW_ACTS)[number];
  /** position of the row; the number of rows for a new one */
  at: number;
}

/** @returns undefined for the buttons that save or remove the server */
export function rowActIn(act: string | undefined): RowAct | undefined {
  const [, name, at] = /^(\w+):(\d{1,4})$/.exec(act ?? "") ?? [];
  const kind = ROW_ACTS.find((one) => one === name);
  return kind && { kind, at: Number(at) };
}

/**
 * @param stored the server of the draft, whose values the entry may keep
 * @returns the entry with the row changed, moved, added or removed
 */
export function withRowAct(
  entry: McpEntry,
  { kind, at }: RowAct,
  stored: Pick<McpServer, "env"> | undefined,
): McpEntry {
  const { args, variables } = entry;
  switch (kind) {
    case "up":
      return { ...entry, args: swapped(args, at - 1) };
    case "down":
      return { ...entry, args: swapped(args, at) };
    case "drop_arg":
      return { ...entry, args: args.filter((_, index) => index !== at) };
    case "drop_env":
      return { ...entry, variables: variables.filter((_, index) => index !== at) };
    case "show_env":
      return withVariable(entry, at, (variable) => withKeptValue(variable, stored));
    case "new_env":
      return withVariable(entry, at, ({ name }) => ({ name, value: "" }));
    case "add_arg":
      return { ...entry, args: [...args, ""].slice(0, MCP_ARGUMENTS_MAX) };
    default:
      return { ...entry, variables: [...variables, { name: "", value: "" }].slice(0, MCP_ARGUMENTS_MAX) };
  }
}

const withVariable = (entry: McpEntry, at: number, changed: (variable: Variable) => Variable): McpEntry => ({
  ...entry,
  variables: entry.variables.map((variable, index) => (index === at ? changed(variable) : variable)),
});

/** @returns the variable with the value that the draft has; unchanged if the draft has none */
function withKeptValue(variable: Variable, stored: Pick<McpServer, "env"> | undefined): Variable {
  const [, value] =
    Object.entries(stored?.env ?? {}).find(([name]) => referenceTo(name) === variable.kept) ?? [];
  return value === undefined ? variable : { name: variable.name, value };
}

/**
 * @param stored the server of the draft, whose values the entry may keep
 * @returns the entry with all its values; `shown` is the entry for a page, with an empty row for each variable whose
 * value is lost
 */
export function withKeptValues(
  entry: McpEntry,
  stored: Pick<McpServer, "env"> | undefined,
): { whole: McpEntry; shown: McpEntry; problems: Problem[] } {
  const variables = entry.variables.map((variable) => withKeptValue(variable, stored));
  const isGone = (at: number): boolean => variables[at]?.kept !== undefined;
  const rows = entry.variables.map((variable, at) =>
    isGone(at) ? { name: variable.name, value: "" } : variable,
  );
  const problems = variables
    .filter((_, at) => isGone(at))
    .map(({ name }) => ({ pointer: pointerOf(["env", name]), detail: "needs its value again" }));
  return { whole: { ...entry, variables }, shown: { ...entry, variables: rows }, problems };
}

/** @returns the list with this item and the next one exchanged; unchanged at the ends of the list */
function swapped(items: readonly string[], at: number): readonly string[] {
  const [one, other] = [items[at], items[at + 1]];
  return one === undefined || other === undefined
    ? items
    : [...items.slice(0, at), other, one, ...items.slice(at + 2)];
}

/** @returns the server without the fields of the other kind, and without blank rows of variables */
export function serverOf({ isRemote, ...entry }: McpEntry): McpServer {
  const { name, command, args, variables, url, transport, isEnabled } = entry;
  const named = variables.filter((variable) => variable.name !== "" || variable.value !== "");
  const env = Object.fromEntries(named.map((variable) => [variable.name, variable.value]));
  const own = isRemote
    ? { ...(url && { url }), ...(transport && { transport }) }
    : {
        ...(command && { command }),
        ...(args.length > 0 && { args: [...args] }),
        ...(named.length > 0 && { env }),
      };
  return { name, ...own, disabled: !isEnabled };
}

/** @returns problems that only a form can have, because a policy cannot express them */
export function entryProblems({ isRemote, variables, harnesses }: McpEntry): Problem[] {
  const problems: Problem[] = [];
  const names = new Set<string>();
  for (const { name } of isRemote ? [] : variables) {
    if (name !== "" && names.has(name))
      problems.push({ pointer: pointerOf(["env", name]), detail: "occurs twice" });
    names.add(name);
  }
  if (!isRemote && variables.some(({ name, value }) => name === "" && value !== ""))
    problems.push({ pointer: "/env", detail: "has a value without a name" });
  if (harnesses.length === 0) problems.push({ pointer: "/harnesses", detail: "must be at least one" });
  return problems;
}

/** The id and name of the control with a problem. */
export function controlOf({ isRemote, variables }: McpEntry, pointer: string): { id: string; label: string } {
  const [member = "", at = ""] = tokensOf(pointer);
  if (member === "args") return { id: `arg${at}`, label: `Argument ${Number(at) + 1}` };
  if (member === "env") {
    const row = Math.max(
      0,
      variables.findLastIndex(({ name }) => name === at),
    );
    return { id: `env_name${row}`, label: at === "" ? "The list of variables" : `Variable ${at}` };
  }
  return CONTROLS[member] ?? { id: isRemote ? "url" : "command", label: "The server" };
}

const CONTROLS: Readonly<Record<string, { id: string; label: string }>> = {
  name: { id: "name", label: "Name" },
  command: { id: "command", label: "Command" },
  url: { id: "url", label: "URL" },
  transport: { id: "transport", label: "Transport" },
  harnesses: { id: "harnesses", label: "Harnesses" },
};
