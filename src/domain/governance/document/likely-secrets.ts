// Recognizes keys and tokens by their names and their form. It guesses: exports replace what it finds by references, and the console
// hides it until a reader asks for it, and warns before such a value is sent to workstations.
import { referenceIn } from "../../../platform/config/references.ts";
import { pointerOf } from "../../../platform/errors.ts";
import type { McpServer } from "../model.ts";

const SECRET_NAME =
  /(?:^|_)(?:token|secret|password|passwd|passphrase|credential|authorization|bearer|cookie|(?:api|private|access|secret|signing|encryption|sealing|admin|auth)_?key)s?(?:$|_(?:value|text|data|pem|base64|json))/;
/** prefixes that issuers of keys and tokens use */
const SECRET_VALUE =
  /^(?:sk-|pk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ[\w-]+\.|-----BEGIN |Bearer\s|Basic\s)/;
const SECRET_FLAG = /^--?([\w-]+)(?:=(.*))?$/s;
/** A text without blanks and separators that mixes letters of both cases with digits, or is a long hexadecimal number. */
const RANDOM_VALUE = /^(?:(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w+=-]{20,}|[\da-fA-F]{32,})$/;
/** `$NAME`, `${NAME}` and the references of configuration files: the value itself is elsewhere */
const REFERENCE = /^\$(?:\w+|\{[^}]+\})$/;

/** `apiKey`, `API-KEY` and `api_key` are one name. */
export const isSecretName = (name: string): boolean =>
  SECRET_NAME.test(
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
      .replaceAll(/[^A-Za-z0-9]+/g, "_")
      .toLowerCase(),
  );

/** @returns whether a member holds the variables of an MCP server, each of which counts as a secret */
export const isServerEnvironment = (path: readonly string[], name: string): boolean =>
  name === "env" && path.at(-2) === "mcp";

/**
 * @param isMarked whether its name, its place or the argument before it marks the text as a secret
 * @returns whether exports replace the text and pages hide it; a reference stays, because its value is elsewhere
 */
export const isLikelySecret = (text: string, isMarked: boolean): boolean =>
  text !== "" && (isMarked || isSecretText(text) || isSecretFlag(text)) && referenceIn(text) === undefined;

/** @returns whether the value of the text is in a variable of the workstation: `$NAME` */
export const isVariableReference = (text: string): boolean => REFERENCE.test(text);

/** @returns whether the text starts as issued keys do, or is a URL with a password or a key */
const isSecretText = (text: string): boolean => SECRET_VALUE.test(text) || hasSecretIn(text);

/** @returns whether `argument` is `--token=X` */
const isSecretFlag = (argument: string): boolean => {
  const [, flag, given] = SECRET_FLAG.exec(argument) ?? [];
  return flag !== undefined && given !== undefined && isSecretName(flag);
};

/** @returns whether the argument after this one is a secret: `--token X` */
export const announcesSecret = (argument: string): boolean => {
  const [, flag, given] = SECRET_FLAG.exec(argument) ?? [];
  return flag !== undefined && given === undefined && isSecretName(flag);
};

function hasSecretIn(text: string): boolean {
  if (!/[?@]/.test(text)) return false; // without a password and without a query; most texts are not parsed
  const url = URL.parse(text);
  if (!url) return false;
  return url.password !== "" || [...url.searchParams.keys()].some(isSecretName);
}

interface ServerSecret {
  path: readonly string[];
  text: string;
}

/** @returns pointers to the values of a server that look like a key or a token */
export const likelySecretsIn = (server: Partial<McpServer>): string[] =>
  secretsInServer(server).map(({ path }) => pointerOf(path));

/** @returns the values of a server that look like a key or a token, with their paths in it */
export function secretsInServer({ command, args = [], env = {}, url }: Partial<McpServer>): ServerSecret[] {
  const found = (text: string | undefined, isNamed: boolean, ...path: string[]): ServerSecret[] =>
    text !== undefined && isLikely(text, isNamed) ? [{ path, text }] : [];
  return [
    ...found(command, false, "command"),
    ...args.flatMap((value, at) => {
      const isNamed = isSecretFlag(value) || announcesSecret(args[at - 1] ?? "");
      return found(value, isNamed, "args", String(at));
    }),
    ...Object.entries(env).flatMap(([name, value]) => found(value, isSecretName(name), "env", name)),
    ...found(url, false, "url"),
  ];
}

const isLikely = (value: string, isNamed: boolean): boolean =>
  !isVariableReference(value) && isLikelySecret(value, isNamed || RANDOM_VALUE.test(value));
