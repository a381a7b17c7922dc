// Parses the query of a SCIM request: names are case-insensitive, the last of a repeated parameter wins, unknown ones are
// ignored. src/domain/scim interprets the values.
import { scimInvalid } from "../../domain/scim/errors.ts";
import type { ListParameters, ViewParameters } from "../../domain/scim/model.ts";

/** Values by lower-case name. */
export type Query = ReadonlyMap<string, string>;

/** RFC 7644 section 7.5.1: URLs must not contain secrets, because intermediaries log them. */
const SENSITIVE = ["access_token", "password"];
const NOTHING_ASKED: Query = new Map();

/** @throws ScimError 400 `invalidSyntax` for malformed percent-encoding, `sensitive` for a secret */
export function readQuery(request: Request): Query {
  const { url } = request;
  const start = url.indexOf("?");
  if (start < 0) return NOTHING_ASKED;
  const query = new Map<string, string>();
  for (const pair of url.slice(start + 1).split("&")) {
    const [name = "", ...value] = pair.split("=");
    if (pair !== "") query.set(decode(name).toLowerCase(), decode(value.join("=")));
  }
  const sensitive = SENSITIVE.find((name) => query.has(name));
  if (sensitive !== undefined) {
    throw scimInvalid("sensitive", `${sensitive} must not be sent in a URL; send the token in Authorization`);
  }
  return query;
}

/** Decodes a plus sign as a space; `%2B` is the plus sign. */
function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw scimInvalid("invalidSyntax", "the query is not percent-encoded UTF-8");
  }
}

/** @returns the requested attributes; an empty parameter counts as missing */
export const viewOf = (query: Query): ViewParameters => ({
  attributes: namesIn(query.get("attributes")),
  excludedAttributes: namesIn(query.get("excludedattributes")),
});

/** @returns a list request with its raw values */
export const listOf = (query: Query): ListParameters => ({
  ...viewOf(query),
  filter: query.get("filter"),
  sortBy: query.get("sortby"),
  sortOrder: query.get("sortorder"),
  startIndex: query.get("startindex"),
  count: query.get("count"),
});

/** Limit on the characters of a list of attributes: a megabyte of commas would take 100 ms. */
export const ATTRIBUTE_LIST_CHARACTERS_MAX = 64 * 1024;

/**
 * @returns the names in a comma-separated list; undefined if the parameter is missing
 * @throws ScimError 400 `invalidValue` for a list that is too long
 */
export function namesIn(text: string | undefined): readonly string[] | undefined {
  if (text && text.length > ATTRIBUTE_LIST_CHARACTERS_MAX)
    throw scimInvalid(
      "invalidValue",
      `a list of attributes has more than ${ATTRIBUTE_LIST_CHARACTERS_MAX} characters; name fewer`,
    );
  const names = text
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names?.length ? names : undefined;
}
