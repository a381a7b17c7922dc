// Recognizes keys and tokens by their names and their form. It guesses: exports replace what it finds by references, and the console
// warns before such a value is sent to workstations.
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

/** @returns whether the text starts as issued keys do, or is a URL with a password or a key */
export const isSecretText = (text: string): boolean => SECRET_VALUE.test(text) || hasSecretIn(text);

/** @returns whether `argument` is `--token=X` */
export const isSecretFlag = (argument: string): boolean => {
  const [, flag, given] = SECRET_FLAG.exec(argument) ?? [];
  return flag !== undefined && given !== undefined && isSecretName(flag);
};

/** @returns whether the argument after this one is a secret: `--token X` */
export const announcesSecret = (argument: string): boolean => {
  const [, flag, given] = SECRET_FLAG.exec(argument) ?? [];
  return flag !== undefined && given === undefined && isSecretName(flag);
};

function hasSecretIn(text: string): boolean {
  const url = URL.parse(text);
  if (!url) return false;
  return url.password !== "" || [...url.searchParams.keys()].some(isSecretName);
}

/** @returns pointers to the values of a server that look like a key or a token */
export function likelySecretsIn({ command, args = [], env = {}, url }: Partial<McpServer>): string[] {
  const found = (value: string | undefined, isNamed: boolean, ...path: string[]): string[] =>
    value !== undefined && isLikely(value, isNamed) ? [pointerOf(path)] : [];
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
  value !== "" &&
  !REFERENCE.test(value) &&
  referenceIn(value) === undefined &&
  (isNamed || isSecretText(value) || RANDOM_VALUE.test(value));
