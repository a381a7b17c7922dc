// Recognizes keys, tokens and passwords in a text by their form: issued keys, URLs and connection strings with a password,
// header lines, and assignments such as `token: …`. Every search takes linear time.
import { referenceIn } from "../../../platform/config/references.ts";
import { keyFormsIn } from "../../../platform/crypto/key-forms.ts";
import { isRandomText } from "./random-text.ts";
import { isIdentifierName, isNameOfSecretNumber, isSecretName } from "./secret-names.ts";

/** prefixes that issuers of keys and tokens use; `sk-SK` is a language */
const SECRET_START =
  /^(?:sk-(?![A-Z]{2}$)|pk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ[\w-]+\.)/;
const KEY_FORM = keyFormsIn("");
/** references, not values: `$NAME`, `${NAME}`, `{env:NAME}`, `%NAME%`, `{{name}}` and `<your token>` */
const PLACEHOLDER =
  /^(?:\$[A-Z_][A-Z\d_]*(?!\w)|\$\{(?:\w+:)?[\w.]+\}|\$\([^()]*\)|\{(?:env|file):[^{}]*\}|\{\{[^{}]*\}\}|%\w+%|<[^<>]*>|file:\/\/|process\.env\b|[*•.…]+$)/;
/** the beginning of credentials in the header Authorization (RFC 9110 section 11.4) */
const SCHEME = /^(?:basic|bearer|token|api[_-]?key)\s+/i;
const ORDINARY =
  /^(?:|true|false|yes|no|on|off|none|null|nil|undefined|required|optional|disabled|enabled|auto|default|basic|bearer|digest|token|api_?key|oauth2?|oidc|saml|browser|device|login|password|string|str|text|number|int|boolean|bool)$/i;
const PATH = /^(?:(?:~|\.{1,2})?\/|[A-Za-z]:\\)[^\s:;=]+$/;
const VARIABLE_NAME = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/;
const PLAIN_URL = /^[a-z][a-z\d+.-]*:\/\/[^\s@?#]*$/i;

/** @returns whether a text is only a reference to a secret, or states that there is none */
const isHarmless = (text: string): boolean => {
  const value = text.trim().replace(SCHEME, "");
  if (PLACEHOLDER.test(value)) return isWholePlaceholder(value);
  if (ORDINARY.test(value) || referenceIn(value) !== undefined) return true;
  return (VARIABLE_NAME.test(value) && isSecretName(value)) || isPath(value);
};

/** A password may begin with a slash, so an absolute path must have two. */
const isPath = (value: string): boolean =>
  PATH.test(value) && (!value.startsWith("/") || value.indexOf("/", 1) > 0);

const isWholePlaceholder = (value: string): boolean =>
  PLACEHOLDER.exec(value)?.[0].length === value.length || /^(?:file:\/\/|process\.env)/.test(value);

/** @returns whether a text with the name of a secret is a secret */
export const isSecretUnder = (name: string, text: string): boolean =>
  !isHarmless(text) && !(/auth$/i.test(name) && PLAIN_URL.test(text));

/** @param name name of the value, or empty @returns whether the form of the text shows that it is or contains a secret */
export function isSecretText(text: string, name: string): boolean {
  if (text.length < SECRET_CHARACTERS_MIN || isHarmless(text)) return false;
  if (SECRET_START.test(text) || KEY_FORM.test(text)) return true;
  if (hasCredentials(text) || hasAssignment(text)) return true;
  const [, ownName = name, value = text] = ASSIGNED.exec(text) ?? [];
  return isRandomText(value) && !isIdentifierName(ownName);
}

/** `--name=value`, `NAME=value` or `Name: value`, where the value may be random */
const ASSIGNED = /^-{0,2}([\w.-]+)(?:=|:\s{0,4})([^\s=][^\s]{19,})$/;

const SECRET_CHARACTERS_MIN = 4;

/** `Bearer …` and `Basic …` as a whole value, and a bearer token in a longer text */
const WHOLE_SCHEME = /^bearer\s+\S+$/i;
const BASIC = /^basic\s+([A-Za-z\d+/]{4,}={0,2})$/i;
const BEARER = /\bbearer\s{1,4}(?=[\w.~+/=-]{8})[A-Za-z_.~+/=-]{0,256}\d/i;
/** RFC 3986 section 3.2.1 */
const USER_INFORMATION = /:\/\/([^\s/?#:@"'<>]{0,256})(?::([^\s/?#@"'<>]{1,1024}))?@/g;
/** signed URLs of object stores, and webhooks whose URL is the only secret */
const SIGNED_URL =
  /[?&](?:sig|signature|x-(?:amz|goog)-signature)=[\w%+/=-]{16}|hooks\.slack\.com\/services\/\w|discord(?:app)?\.com\/api\/webhooks\/\w/i;

function hasCredentials(text: string): boolean {
  if (WHOLE_SCHEME.test(text) || BEARER.test(text) || SIGNED_URL.test(text)) return true;
  const [, basic] = BASIC.exec(text) ?? [];
  if (basic !== undefined && Buffer.from(basic, "base64").includes(":")) return true;
  if (!text.includes("@")) return false;
  for (const [, user = "", password] of text.matchAll(USER_INFORMATION)) {
    if (password !== undefined && !isHarmless(password)) return true;
    if (password === undefined && isRandomText(user)) return true;
  }
  // The password of a whole URL may have any character.
  const url = URL_START.test(text) ? URL.parse(text) : null;
  return url !== null && url.password !== "" && !isHarmless(decoded(url.password));
}

const URL_START = /^[a-z][a-z\d+.-]{0,32}:\/\//i;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that does not begin an escape
  }
}

/** a flag with its value: `--token=X` */
const FLAG = /^--?([\w.-]+)(?:=(.*))?$/s;

/** @returns the name of a flag, and its value if it has one */
export function flagIn(argument: string): { name: string; value: string | undefined } | undefined {
  const [, name, value] = FLAG.exec(argument) ?? [];
  return name === undefined ? undefined : { name, value };
}

/** Names of secrets contain one of these; texts without them are not searched. */
const SECRET_PART = /token|secret|pass|pwd|cred|auth|bearer|cookie|key|conn|jwt|dsn/i;
const NAME_CHARACTERS_SEARCHED = 64;
const VALUE_CHARACTERS_SEARCHED = 256;
/** blanks and quotes between a name and its value */
const GAP_CHARACTERS_SEARCHED = 3;
const INDENT_CHARACTERS_SEARCHED = 64;

/** `NAME=value` anywhere in a text, and `NAME: value` on a line, in quotes or after a mark */
function hasAssignment(text: string): boolean {
  if (!SECRET_PART.test(text)) return false;
  const flag = flagIn(text);
  if (flag?.value !== undefined && isSecretName(flag.name) && !isHarmless(flag.value)) return true;
  let [equals, colon] = [text.indexOf("="), text.indexOf(":")];
  while (equals >= 0 || colon >= 0) {
    const isColon = equals < 0 || (colon >= 0 && colon < equals);
    const at = isColon ? colon : equals;
    if (assigns(text, at, isColon)) return true;
    if (isColon) colon = text.indexOf(":", at + 1);
    else equals = text.indexOf("=", at + 1);
  }
  return false;
}

/** @param at index of the mark @returns whether a secret name is before it, and a value after it */
function assigns(text: string, at: number, isColon: boolean): boolean {
  const end = indexBefore(text, at, { max: GAP_CHARACTERS_SEARCHED, characters: " \t\"'\\" });
  let start = end;
  while (start > 0 && end - start < NAME_CHARACTERS_SEARCHED && isNameCharacter(text.charCodeAt(start - 1)))
    start -= 1;
  const name = text.slice(start, end);
  if (name === "" || !SECRET_PART.test(name) || !isSecretName(name)) return false;
  if (isColon && !isAtStart(text, start)) return false;
  let from = at + 1;
  while (from <= at + GAP_CHARACTERS_SEARCHED && " \t\"'`\\".includes(text.charAt(from))) from += 1;
  return (
    !NO_VALUE.test(text.charAt(from)) &&
    isAssigned(text.slice(from, from + VALUE_CHARACTERS_SEARCHED), { name, isColon })
  );
}

/** The first word of a value, and the character after it, which shows whether the text is code instead. */
const VALUE = /^(?:(?:basic|bearer|token|api[_-]?key)\s+)?([^\s"'`,;&<>{}()[\]=][^\s"'`,;&<>{}()[\]]*)(.?)/i;
const NO_VALUE = /^[\s"'`,;&<>()[\]=]?$/;

function isAssigned(value: string, { name, isColon }: { name: string; isColon: boolean }): boolean {
  if (PLACEHOLDER.test(value.replace(SCHEME, ""))) return false;
  const [whole, word = "", next = ""] = VALUE.exec(value) ?? [];
  if (whole === undefined || next === "(" || isHarmless(word)) return false;
  if (/^\d+$/.test(word) && !isNameOfSecretNumber(name)) return false;
  // In prose, more words follow: "The token: it is ...".
  const rest = value.slice(whole.length - next.length, whole.length + 1);
  return !isColon || !/^ [^\s#]/.test(rest);
}

/** @returns whether a name begins a line, or follows a quote or another mark */
function isAtStart(text: string, start: number): boolean {
  const before = indexBefore(text, start, { max: INDENT_CHARACTERS_SEARCHED, characters: " \t-" });
  if (before === 0 || "\n\r".includes(text.charAt(before - 1))) return true;
  return "\"'`={,([;&?".includes(text.charAt(start - 1));
}

/** @returns the index after the last other character before `end`, at most `max` before it */
function indexBefore(
  text: string,
  end: number,
  { max, characters }: { max: number; characters: string },
): number {
  let at = end;
  while (at > 0 && end - at < max && characters.includes(text.charAt(at - 1))) at -= 1;
  return at;
}

const isNameCharacter = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || // digits
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x2d || // -
  code === 0x2e || // .
  code === 0x5f; // _
