// The query of a SCIM request: names in any letter case, the last of a repeated one, unknown ones let be
// (scim.md SCIM-39, SCIM-46). What the values mean is the area's to say.
import { scimInvalid } from "../../domain/scim/errors.ts";
import type { AskedList, AskedView } from "../../domain/scim/model.ts";

/** Values by name in lower case. */
export type Query = ReadonlyMap<string, string>;

/** Secrets in a URL end up in logs on the way (RFC 7644 section 7.5.1). */
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

/** A plus sign is a blank here; `%2B` is the sign (scim.md SCIM-51). */
function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw scimInvalid("invalidSyntax", "the query is not percent-encoded UTF-8");
  }
}

/** @returns the attributes asked for; an empty parameter counts as none */
export const viewOf = (query: Query): AskedView => ({
  attributes: namesIn(query.get("attributes")),
  excludedAttributes: namesIn(query.get("excludedattributes")),
});

/** @returns a list request, its values as they came */
export const listOf = (query: Query): AskedList => ({
  ...viewOf(query),
  filter: query.get("filter"),
  sortBy: query.get("sortby"),
  sortOrder: query.get("sortorder"),
  startIndex: query.get("startindex"),
  count: query.get("count"),
});

/** @returns the names of a comma-separated list, undefined where there is none */
export function namesIn(text: string | undefined): readonly string[] | undefined {
  const names = text
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names?.length ? names : undefined;
}
