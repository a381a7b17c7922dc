// A query sent by POST (RFC 7644 section 3.4.3), for filters too long or too sensitive for a URL. It becomes the same list
// request as a query.

import { scimInvalid } from "../../domain/scim/errors.ts";
import { fieldsOf, readObject, requireSchema } from "../../domain/scim/messages/messages.ts";
import type { ListParameters } from "../../domain/scim/model.ts";
import { SEARCH_REQUEST } from "../../domain/scim/wire.ts";
import { namesIn } from "./query.ts";

type Members = ReadonlyMap<string, unknown>;

/**
 * @param body JSON object; member names are case-insensitive, unknown members and nulls are ignored
 * @throws ScimError 400 `invalidSyntax` for another message, `invalidValue` that names every member of a wrong type
 */
export function readSearchMessage(body: unknown): ListParameters {
  const members = fieldsOf(readObject(body, "the search request"));
  requireSchema(members.get("schemas"), SEARCH_REQUEST);
  const problems: string[] = [];
  const parameters: ListParameters = {
    attributes: names(members, "attributes", problems),
    excludedAttributes: names(members, "excludedAttributes", problems),
    filter: text(members, "filter", problems),
    sortBy: text(members, "sortBy", problems),
    sortOrder: text(members, "sortOrder", problems),
    startIndex: number(members, "startIndex", problems),
    count: number(members, "count", problems),
  };
  if (problems.length > 0) throw scimInvalid("invalidValue", problems.join("; "));
  return parameters;
}

function given(members: Members, name: string): unknown {
  return members.get(name.toLowerCase()) ?? undefined;
}

function text(members: Members, name: string, problems: string[]): string | undefined {
  const value = given(members, name);
  if (value === undefined || typeof value === "string") return value;
  problems.push(`${name} must be text`);
  return undefined;
}

function number(members: Members, name: string, problems: string[]): string | number | undefined {
  const value = given(members, name);
  if (value === undefined || typeof value === "string" || typeof value === "number") return value;
  problems.push(`${name} must be a whole number`);
  return undefined;
}

/** Accepts a list, or a comma-separated text as in a query. */
function names(members: Members, name: string, problems: string[]): readonly string[] | undefined {
  const value = given(members, name);
  if (value === undefined || typeof value === "string") return namesIn(value);
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === "string");
  if (isList) return namesIn(value.join(","));
  problems.push(`${name} must be a list of attribute names`);
  return undefined;
}
