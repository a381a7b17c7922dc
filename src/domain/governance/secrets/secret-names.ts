// Recognizes names of secrets, and names of values that only look random.
import { LRUCache } from "lru-cache";

/** qualifiers that make a key a secret; a key without one is usually the key of a mapping */
const KEY =
  "(?:access|account|admin|api|app|auth|client|deploy|encryption|hmac|licen[cs]e|master|private|sealing|secret|service|service_role|session|shared|signing|storage|subscription|webhook)_?key";
const WORD =
  "token|secret|password|passwd|passphrase|passcode|pass|pwd|credential|cred|auth|authorization|bearer|cookie|jwt|dsn|connection_?str(?:ing)?|conn_?str(?:ing)?";
const SECRET_NAME = new RegExp(
  `(?:^|_)(?:${WORD}|${KEY})s?(?:$|_(?:value|text|data|pem|base64|b64|json|string|header)$)`,
);
/** `max_tokens` and `no_auth` are limits and switches. */
const LIMIT_OR_SWITCH =
  /^(?:allow|allows|disable|disabled|enable|enabled|has|is|limit|max|maximum|min|minimum|no|num|number|require|required|requires|skip|use|uses|with)_/;
/** A number of tokens is a quantity. */
const QUANTITY = /(?:^|_)tokens$/;
/** Names of identifiers, however random their values look. */
const IDENTIFIER =
  /(?:^|_)(?:ca|cert|certificate|certificates|checksum|commit|digest|etag|fingerprint|guid|hash|id|ids|integrity|md5|model|models|public_key|pub_key|ref|rev|revision|sha|sha1|sha256|sha512|thumbprint|uuid|version|x5c)$/;
/** Members of `auth` that describe a way to sign in. */
const DESCRIPTION =
  /^(?:algorithm|audience|client_id|domain|email|enabled|endpoint|flow|host|id|issuer|kind|login|method|mode|name|port|provider|realm|region|schemes?|scopes?|strategy|tenant|timeout|type|ur[il]|user|user_?name)$/;
const LONGEST_NAME_CHARACTERS = 128;

/** `apiKey`, `API-KEY`, `--api-key` and `api_key` are one name. */
const normalized = (name: string): string =>
  name
    .slice(-LONGEST_NAME_CHARACTERS)
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_/, "")
    .toLowerCase();

/** Caches results, because a policy uses the same names for each harness and package. */
const NAMES_KEPT = 1_000;
const known = new LRUCache<string, boolean>({ max: NAMES_KEPT });

/** @returns whether the name denotes a key, a token or a password */
export function isSecretName(name: string): boolean {
  const kept = known.get(name);
  if (kept !== undefined) return kept;
  const plain = normalized(name);
  const isSecret = SECRET_NAME.test(plain) && !LIMIT_OR_SWITCH.test(plain);
  if (name.length <= LONGEST_NAME_CHARACTERS) known.set(name, isSecret);
  return isSecret;
}

/** @returns whether a number under this name is a secret, such as a password of digits */
export const isNameOfSecretNumber = (name: string): boolean =>
  isSecretName(name) && !QUANTITY.test(normalized(name));

/** @returns whether a value under this name may look random without being a secret */
export const isIdentifierName = (name: string): boolean => IDENTIFIER.test(normalized(name));

/** @returns whether a member only describes a way to sign in, although the member above it is named `auth` */
export const isDescription = (name: string, above: string): boolean =>
  /auth$/i.test(above) && DESCRIPTION.test(normalized(name));
