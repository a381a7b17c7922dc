// Reads long member lists while the body arrives, and looks up their users. A body with too many members or with enough unknown
// ones is refused before the rest of it is parsed, and a long list needs little memory. Short lists stay in the body.
import type { Db } from "../../../platform/database/database.ts";
import { NumberSet } from "../../../platform/memory/number-set.ts";
import type { Steps } from "../../../platform/steps.ts";
import { plainId, REQUEST_MEMBERS_MAX, readMemberId, tooManyMembers } from "../patch/member-ids.ts";
import { resolvePath } from "../schema/attribute-path.ts";
import { Refusals } from "../schema/values.ts";
import { inSlices } from "./member-slices.ts";
import { findUsers, type NumberedUser } from "./members-store.ts";
import { NAMED_MAX, unknownMembers } from "./unknown-members.ts";

/** Reads the member lists of one body. */
export interface MemberIntake {
  /**
   * @param name name of a member of an object
   * @param depth nesting levels of that object, from 1
   */
  isMemberList(name: string, depth: number): boolean;
  /** @param list its position */
  open(list: PlaceOfList): LongMemberList;
}

interface PlaceOfList {
  /** as for `isMemberList` */
  depth: number;
  /** the text before the list, without the extracted lists */
  before: string;
}

export interface LongMemberList {
  /** replaces the list in the body */
  readonly value: unknown;
  /** @param elements parsed JSON @throws ScimError as soon as the body must be refused */
  take(elements: readonly unknown[]): Steps<void>;
}

/** Looks up users. */
interface Users {
  /** read only for a long list, because most bodies have none, and beginning to read costs as much as a small query */
  db: Pick<Db, "read">;
  organizationId: string;
}

/** @returns the intake for a body that is a group */
export const groupIntake = (users: Users): MemberIntake => ({
  isMemberList: (name, depth) => depth === 1 && namesMembers(name),
  open() {
    const members = new SentMembers(users);
    return { value: members, take: (elements) => members.take(elements) };
  },
});

/** @returns the intake for a PATCH message: its lists are in the operations, or in their values */
export function patchIntake(users: Users): MemberIntake {
  let count = 0;
  return {
    isMemberList: (name, depth) =>
      (depth === OPERATION && name.toLowerCase() === "value") ||
      (depth === VALUE_OF_OPERATION && namesMembers(name)),
    open(place) {
      const value: unknown[] = [];
      const entries = new Entries();
      const unknown = addsMembers(place) ? new UnknownMembers(users) : undefined;
      return {
        value,
        take: (elements) =>
          inSlices(elements, (some) => {
            count += some.length;
            if (count > REQUEST_MEMBERS_MAX) throw tooManyMembers();
            const ids = entries.idsIn(some);
            value.push(...(ids.length === some.length ? ids : some)); // the operation reports the entries without ids
            unknown?.find(ids);
            return undefined;
          }),
      };
    },
  };
}

/** Nesting levels of operations in a PATCH message, and of their values. */
const [OPERATION, VALUE_OF_OPERATION] = [3, 4];

function namesMembers(name: string): boolean {
  const path = resolvePath("Group", name);
  return path?.attribute?.name === "members" && path.sub === undefined;
}

/**
 * An operation that removes users may name unknown ones, and an operation with another path concerns other values. Without a path,
 * it must not be a removal.
 * @returns whether the operation adds members, or is refused in any case
 */
function addsMembers({ depth, before }: PlaceOfList): boolean {
  if (depth === VALUE_OF_OPERATION) return true;
  const operation = before.slice(before.lastIndexOf("{"));
  return /"op"\s*:\s*"(?:add|replace)"/i.test(operation) && /"path"\s*:\s*"members"/i.test(operation);
}

/** The users of a long member list. */
export class SentMembers {
  /** sequences of the users found */
  readonly users = new NumberSet();
  readonly #entries = new Entries();
  readonly #unknown: UnknownMembers;

  constructor(users: Users) {
    this.#unknown = new UnknownMembers(users);
  }

  /** The first ids that are not users; fewer than an error can name. */
  get unknown(): readonly string[] {
    return this.#unknown.ids;
  }

  /** @throws ScimError with as many problems as one error can name */
  take(elements: readonly unknown[]): Steps<void> {
    return inSlices(elements, (some) => {
      const ids = this.#entries.idsIn(some);
      for (const { sequence } of this.#unknown.find(ids)) this.users.add(sequence);
      return undefined;
    });
  }

  /** @throws ScimError for entries without an id of a user */
  requireIds(): void {
    this.#entries.refusals.throwIfAny();
  }
}

/** Reads the entries of one list. */
class Entries {
  readonly refusals = new Refusals();
  #count = 0;

  /** @returns the ids in further entries @throws ScimError 413, or with as many entries without an id as one error can name */
  idsIn(some: readonly unknown[]): string[] {
    if (this.#count + some.length > REQUEST_MEMBERS_MAX) throw tooManyMembers();
    const ids: string[] = [];
    for (const element of some) {
      try {
        ids.push(plainId(element) ?? readMemberId(element, `members[${this.#count}]`));
      } catch (error) {
        this.refusals.add(error);
        if (this.refusals.areEnough) this.refusals.throwIfAny();
      }
      this.#count += 1;
    }
    return ids;
  }
}

/** Maximum number of entries with unknown ids, even if fewer than NAMED_MAX are different. */
export const UNKNOWN_ENTRIES_MAX = 100;

/** Collects the ids in a list that are not users. */
class UnknownMembers {
  /** each once */
  readonly ids: string[] = [];
  #entries = 0;

  constructor(private readonly users: Users) {}

  /** @returns the users among them @throws ScimError if enough are unknown */
  find(ids: readonly string[]): readonly NumberedUser[] {
    const { db, organizationId } = this.users;
    const connection = db.read;
    const found = findUsers(connection, { organizationId, ids });
    if (found.length === ids.length) return found;
    const known = new Set(found.map(({ id }) => id));
    for (const id of ids) {
      if (known.has(id)) continue;
      if (!this.ids.includes(id)) this.ids.push(id);
      this.#entries += 1;
      if (this.ids.length === NAMED_MAX || this.#entries > UNKNOWN_ENTRIES_MAX)
        throw unknownMembers(connection, { organizationId, ids: this.ids });
    }
    return found;
  }
}
