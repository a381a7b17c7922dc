// PATCH of a group: reduces all operations to new values and added and removed users, without reading the members, so that the time
// does not depend on the size of the group (SCIM-79, SCIM-80). groups/ applies the result.

import { invariant } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { scimInvalid } from "../errors.ts";
import type { Filter } from "../filter/model.ts";
import { membersNamed } from "../filter/named-values.ts";
import { isUnassigned, readSimple, requiredAttribute, requireSingle, type Wanted } from "../schema/values.ts";
import { REQUEST_MEMBERS_MAX, readMemberIds, tooManyMembers } from "./member-ids.ts";
import { type Change, eachStep, forEachOperation, type Patched, type Step } from "./operations.ts";
import { fieldsWithId } from "./user-references.ts";

/** ids in one step, which takes about 1 ms */
const MENTIONED_AT_ONCE = 10_000;

export interface GroupPatch {
  /** absent if it stays */
  readonly displayName?: string;
  /** absent if it stays, null if it is removed */
  readonly externalId?: string | null;
  readonly members: {
    /** the starting point of `add` and `remove` */
    readonly base: "kept" | "emptied";
    /** ids that are members afterward, each once; none of them is in `remove` */
    readonly add: readonly string[];
    readonly remove: readonly string[];
  };
}

/**
 * @param body parsed JSON of the PATCH message
 * @throws ScimError 400 with the index of the faulty operation if there is one, 413
 * @source RFC 7644 section 3.5.2
 */
export function* readGroupPatch(body: unknown, { id }: Patched): Steps<GroupPatch> {
  const changes = new GroupChanges();
  const receiver = { type: "Group", id, carryOut: (step: Step) => changes.apply(step) } as const;
  yield* forEachOperation(body, (operation) => eachStep(operation, receiver));
  yield;
  return changes.toPatch();
}

/** The combined result of the operations so far; if a user is mentioned twice, the last mention counts. */
class GroupChanges {
  readonly #texts = new Map<string, string | null>();
  readonly #mentions = new Map<string, "add" | "remove">();
  #base: GroupPatch["members"]["base"] = "kept";
  #memberValues = 0;

  apply({ target: { path, elements }, change }: Step): Steps<void> | undefined {
    const { attribute } = path;
    invariant(attribute, "a group has no extensions");
    if (attribute.name === "members")
      return elements ? this.#changeNamed(elements, change) : this.#changeListed(change);
    this.#setText({ attribute, name: attribute.name }, change);
    return undefined;
  }

  toPatch(): GroupPatch {
    const displayName = this.#texts.get("displayName");
    const externalId = this.#texts.get("externalId");
    return {
      ...(typeof displayName === "string" && { displayName }),
      ...(externalId !== undefined && { externalId }),
      members: {
        base: this.#base,
        add: this.#mentioned("add"),
        remove: this.#base === "kept" ? this.#mentioned("remove") : [],
      },
    };
  }

  #setText(wanted: Wanted, { op, value }: Change): void {
    const text = op === "remove" ? undefined : readSimple(value, wanted);
    if (typeof text === "string") this.#texts.set(wanted.name, text);
    else if (op !== "add" && wanted.attribute.required) throw requiredAttribute(wanted.name);
    else if (op !== "add") this.#texts.set(wanted.name, null);
  }

  *#changeListed({ op, value }: Change): Steps<void> {
    if (op === "replace" || value === undefined) this.#empty();
    this.#count(Array.isArray(value) ? value.length : 1);
    yield* this.#mention(yield* readMemberIds(value, "members"), op === "remove" ? "remove" : "add");
  }

  /** A filter can name members but not search for them, because the members are not read. */
  *#changeNamed(filter: Filter, { op, value }: Change): Steps<void> {
    const named = membersNamed(filter);
    if (!named)
      throw scimInvalid("invalidPath", 'members can be named by id only, as in members[value eq "id"]');
    this.#count(named.length);
    const ids = yield* readMemberIds(named, "members");
    if (op !== "remove" && (op === "replace" || ids.length > 1 || namesAnother(value, ids)))
      throw scimInvalid("mutability", "a member cannot be replaced in place; remove it and add the new one");
    yield* this.#mention(ids, op === "remove" ? "remove" : "add");
  }

  #empty(): void {
    this.#base = "emptied";
    this.#mentions.clear();
  }

  #mentioned(kind: "add" | "remove"): string[] {
    const ids: string[] = [];
    for (const [id, mention] of this.#mentions) if (mention === kind) ids.push(id);
    return ids;
  }

  *#mention(ids: readonly string[], kind: "add" | "remove"): Steps<void> {
    for (const [at, id] of ids.entries()) {
      if (at > 0 && at % MENTIONED_AT_ONCE === 0) yield;
      this.#mentions.set(id, kind);
    }
  }

  #count(values: number): void {
    this.#memberValues += values;
    if (this.#memberValues > REQUEST_MEMBERS_MAX) throw tooManyMembers();
  }
}

function namesAnother(value: unknown, [id]: readonly string[]): boolean {
  const sent = requireSingle(value, "members");
  const given = isJsonObject(sent) ? fieldsWithId(sent).get("value") : sent;
  return !isUnassigned(given) && given !== id;
}
