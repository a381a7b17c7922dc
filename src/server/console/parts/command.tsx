// "As a command": the command line and the API request that do the same as a list or an action.
/** @jsxImportSource preact */
import { shellWord } from "../../../platform/text/shell-word.ts";
import { visibleJson, visibleText } from "./texts.ts";
import { Copy } from "./values.tsx";

/** The same request for a program. */
export interface ApiCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** path and query */
  path: string;
  body?: object | undefined;
}

export interface Equivalents {
  /** words of the command after `quartermaster`; empty values are omitted by the caller. Never a secret. */
  command?: readonly string[] | undefined;
  api?: ApiCall | undefined;
}

const visibleWord = (word: string): string =>
  visibleText(word) === word ? shellWord(word) : escapedWord(word);

/** Terminals execute control characters, and direction controls make the command look different from what runs. */
function escapedWord(word: string): string {
  const octets = [...new TextEncoder().encode(word)];
  return `"$(printf '${octets.map((octet) => `\\${octet.toString(8).padStart(3, "0")}`).join("")}')"`;
}

const OPTION = /^--[a-z][a-z-]*$/;

/** @param words the command, its arguments, then its options */
export function commandLine(words: readonly string[]): string {
  const optionsAt = words.findIndex((word) => OPTION.test(word));
  const end = optionsAt === -1 ? words.length : optionsAt;
  const at = words.slice(0, end).findIndex((word) => word.startsWith("-"));
  const ordered =
    at === -1 ? words : [...words.slice(0, at), ...words.slice(end), "--", ...words.slice(at, end)];
  return ["quartermaster", ...ordered].map(visibleWord).join(" ");
}

/** @returns `--name value` for each value that is given */
export const options = (
  values: Readonly<Record<string, string | number | boolean | undefined | null>>,
): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === "" || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  });

/** @returns the filters of a command that changes many rows; `--all` without filters */
export const optionsOrAll = (filters: readonly string[]): readonly string[] =>
  filters.length > 0 ? filters : ["--all"];

/** A disclosure with the command and the request, each with a copy button. */
export function AsCommand({ command, api, label = "As a command" }: Equivalents & { label?: string }) {
  if (command === undefined && api === undefined) return null;
  return (
    <details class="as-command">
      <summary>{label}</summary>
      <Examples command={command} api={api} />
    </details>
  );
}

/** One disclosure for several actions of one object. */
export const AsCommands = ({ actions }: { actions: readonly Equivalents[] }) => (
  <details class="as-command">
    <summary>{actions.length === 1 ? "As a command" : "As commands"}</summary>
    {actions.map((action) => (
      <Examples key={action.api?.path} {...action} />
    ))}
  </details>
);

function Examples({ command, api }: Equivalents) {
  const line = command && commandLine(command);
  const call = api && `${api.method} ${api.path}${api.body ? `\n\n${visibleJson(api.body)}` : ""}`;
  return (
    <>
      {line && <Example label="On the server" text={line} />}
      {call && <Example label="For a program" text={call} />}
    </>
  );
}

const Example = ({ label, text }: { label: string; text: string }) => (
  <div class="example">
    <p class="hint">{label}</p>
    <pre>{text}</pre>
    <Copy what={label === "On the server" ? "command" : "request"} />
  </div>
);
