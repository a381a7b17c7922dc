// The MCP servers of one harness. Local servers have a command, remote servers a URL. Messages never repeat a command line, a
// variable or a URL, because they may contain credentials.

import {
  isUnicodeText,
  jsonTypeOf,
  NOT_UNICODE,
  ObjectReader,
  type Place,
} from "../../../platform/text/object-reader.ts";
import { type ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import {
  LABEL_CHARACTERS_MAX,
  MCP_ARGUMENTS_MAX,
  MCP_SERVERS_MAX,
  MCP_TEXT_CHARACTERS_MAX,
  type McpServer,
  URL_CHARACTERS_MAX,
} from "../model.ts";
import { urlProblem } from "./url.ts";

const MCP_MEMBERS = ["name", "command", "args", "env", "url", "transport", "disabled"];

/** An argument or a variable may have several lines. */
const readLines = ({ value, pointer }: Place, problems: ProblemList): string | undefined => {
  if (typeof value !== "string") problems.add(pointer, `must be a text, not ${jsonTypeOf(value)}`);
  else if (value.length > MCP_TEXT_CHARACTERS_MAX)
    problems.add(pointer, `has ${value.length} characters; the limit is ${MCP_TEXT_CHARACTERS_MAX}`);
  else if (!isUnicodeText(value)) problems.add(pointer, NOT_UNICODE);
  else return value;
  return undefined;
};

const readArguments = (members: ObjectReader): string[] =>
  members.items("args", MCP_ARGUMENTS_MAX).flatMap((item) => readLines(item, members.problems) ?? []);

const readVariables = (members: ObjectReader): Record<string, string> =>
  Object.fromEntries(
    members.entries("env", MCP_ARGUMENTS_MAX).flatMap(([name, place]) => {
      const value = readLines(place, members.problems);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** @returns the text; undefined if it is blank, which counts as absent */
const readWords = (members: ObjectReader, name: string, charactersMax: number): string | undefined => {
  const text = members.text(name, charactersMax);
  return text?.trim() === "" ? undefined : text;
};

const isThere = (members: ObjectReader, name: string): boolean => {
  const value = members.value(name);
  return value != null && !(typeof value === "string" && value.trim() === "");
};

const checkKind = (members: ObjectReader): void => {
  const [isLocal, isRemote] = [isThere(members, "command"), isThere(members, "url")];
  if (isLocal && isRemote) members.report("has a command and a url; keep one of them");
  if (!isLocal && !isRemote)
    members.report("needs a command, for a local server, or a url, for a remote one");
  if (isLocal && !isRemote && members.has("transport"))
    members.report("belongs to remote servers; this one has a command", "transport");
  if (!isRemote || isLocal) return;
  for (const name of ["args", "env"]) {
    const value = members.value(name);
    if (typeof value === "object" && value !== null && Object.keys(value).length > 0)
      members.report("belongs to local servers; this one has a url", name);
  }
};

const readName = (members: ObjectReader, firstByName: Map<string, string>): string => {
  const name = members.requiredText("name", LABEL_CHARACTERS_MAX);
  if (name === undefined) return "";
  const key = name.trim();
  const first = firstByName.get(key);
  if (key === "") members.report("must not be blank", "name");
  else if (first === undefined) firstByName.set(key, members.place.pointer);
  else members.report(`${quoted(key)} is already the name of the server at ${first}`, "name");
  return name;
};

const readServer = (members: ObjectReader, firstByName: Map<string, string>): McpServer => {
  const name = readName(members, firstByName);
  const command = readWords(members, "command", MCP_TEXT_CHARACTERS_MAX);
  const args = readArguments(members);
  const env = readVariables(members);
  const url = readWords(members, "url", URL_CHARACTERS_MAX);
  const fault = url === undefined ? undefined : urlProblem(url);
  if (fault) members.report(fault, "url");
  const transport = members.text("transport", LABEL_CHARACTERS_MAX);
  checkKind(members);
  return {
    name,
    ...(command === undefined ? {} : { command }),
    ...(args.length > 0 ? { args } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(url === undefined ? {} : { url }),
    ...(transport === undefined ? {} : { transport }),
    disabled: members.flag("disabled") ?? false,
  };
};

/** Reads `mcp` of a harness. @returns the servers without problems, in their order */
export const readMcpServers = (members: ObjectReader): McpServer[] => {
  const { problems } = members;
  const firstByName = new Map<string, string>();
  return members.items("mcp", MCP_SERVERS_MAX).flatMap((place) => {
    const problemsBefore = problems.count;
    const server = ObjectReader.read(place, problems, MCP_MEMBERS);
    const read = server && readServer(server, firstByName);
    return read && problems.count === problemsBefore ? [read] : [];
  });
};
