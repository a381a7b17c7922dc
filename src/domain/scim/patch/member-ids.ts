// Parses member lists of providers into ids of users. Everything unknown is refused, because a silent success would wrongly leave
// users in a group or out of it (SCIM-79).

import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { ScimError } from "../errors.ts";
import { foldCase, invalidValue, isUnassigned, readAllInSteps, requireSingle } from "../schema/values.ts";
import { fieldsWithId } from "./user-references.ts";

/**
 * Maximum number of member values in a request, in all operations of a PATCH. At COMMIT, SQLite may recompute the checksums of all
 * pages in the log, which blocks all requests. The time grows with the number of members: on a busy machine 28 ms for this limit
 * and 71 ms for 300,000.
 */
export const REQUEST_MEMBERS_MAX = 100_000;

export const tooManyMembers = (): ScimError =>
  new ScimError(
    413,
    undefined,
    `a request can name at most ${REQUEST_MEMBERS_MAX} members; add the rest with PATCH requests`,
  );

/**
 * @param raw a list, or one member; null and empty text are an empty list
 * @param name the list's name in errors
 * @returns the ids in the request, each once
 * @throws ScimError 413; `invalidValue` for a group, and for an entry without an id
 * @source RFC 7643 section 4.2; SCIM-30, SCIM-42, SCIM-79
 */
export function* readMemberIds(raw: unknown, name: string): Steps<readonly string[]> {
  if (isUnassigned(raw)) return [];
  const list: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  if (list.length > REQUEST_MEMBERS_MAX) throw tooManyMembers();
  const ids = new Set<string>();
  yield* readAllInSteps(list.keys(), (at) => {
    ids.add(plainId(list[at]) ?? readMemberId(list[at], `${name}[${at}]`));
    return undefined;
  });
  return [...ids];
}

/** Ignores other members of an entry, except for the type and a reference without an id. */
const PLAIN_NAMES = new Set(["value", "$ref", "display"]);

/** @returns the id in an ordinary entry, without creating a map or list, because a body may have very many */
export function plainId(member: unknown): string | undefined {
  if (!isJsonObject(member)) return undefined;
  const { value, type } = member;
  for (const name in member)
    if (!PLAIN_NAMES.has(name) && (name !== "type" || type !== "User")) return undefined;
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** @param name the entry's name in errors @returns the id in any entry @throws ScimError `invalidValue` */
export function readMemberId(member: unknown, name: string): string {
  const fields = isJsonObject(member) ? fieldsWithId(member) : new Map([["value", member]]);
  const type = fields.get("type");
  if (typeof type === "string" && foldCase(type) === "group")
    throw invalidValue(`${name} is a group, and groups cannot be nested; add its users instead`);
  const value = requireSingle(fields.get("value"), `${name}.value`);
  const id = typeof value === "number" ? String(value) : value;
  if (typeof id !== "string" || id.trim() === "")
    throw invalidValue(`${name} must have the id of a user as value`);
  return id;
}
