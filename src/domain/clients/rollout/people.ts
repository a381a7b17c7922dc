// Finds users who gain or lose a package when one policy replaces another. Suspended and removed users do not count.

import type { Db } from "../../../platform/database/database.ts";
import { ownMember } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { PackageAudience, Revision } from "../../governance/service.ts";
import type { Identity, User } from "../../identity/service.ts";
import type { UserGroups } from "../../shared/user-groups.ts";

/** Maximum number of users to name among those who gain or lose a package. */
export const PEOPLE_NAMED_MAX = 10;

export type Policy = Pick<Revision, "document" | "audiences">;

/** A policy and its replacement. */
export interface PolicyChange {
  before: Policy;
  after: Policy;
}

export interface People {
  count: number;
  /** addresses of the first ones, unless they are all users */
  named: readonly string[];
}

/** Either some active users, or all except these. */
export type Reached = { users: readonly User[] } | { everybodyBut: ReadonlySet<string> };

export interface PeopleSource {
  db: Db;
  identity: Pick<Identity, "users" | "findUserById">;
  userGroups: Pick<UserGroups, "members">;
}

interface Offer {
  version: string;
  audience: PackageAudience;
}

/** @returns the packages of a policy by id, with the users who get them */
export const offersOf = ({ document, audiences }: Policy): ReadonlyMap<string, Offer> =>
  new Map(
    document.packages.map(({ id, version }) => {
      const audience = ownMember(audiences, id);
      return [id, { version, audience: audience ?? { scope: "organization", user_ids: [] } }];
    }),
  );

/** @returns the users who gain or lose the package */
export function* peopleOf(
  source: PeopleSource,
  { before, after }: PolicyChange,
  { packageId, side }: { packageId: string; side: "gaining" | "losing" },
): Steps<Reached> {
  const [from, to] = [before, after].map((policy) => offersOf(policy).get(packageId)?.audience);
  return side === "gaining" ? yield* reached(source, to, from) : yield* reached(source, from, to);
}

/** @param active number of active users @returns how many are in the first audience and not in the second, and the first of them */
export function* countPeople(
  source: PeopleSource,
  [audience, other]: readonly [PackageAudience | undefined, PackageAudience | undefined],
  active: number,
): Steps<People> {
  const people = yield* reached(source, audience, other);
  if ("everybodyBut" in people)
    return { count: active - (yield* activeOf(people.everybodyBut, source)).length, named: [] };
  const { users } = people;
  return { count: users.length, named: users.slice(0, PEOPLE_NAMED_MAX).map(({ email }) => email) };
}

/** @returns the active users of the first audience who are not in the second */
function* reached(
  source: PeopleSource,
  audience: PackageAudience | undefined,
  other: PackageAudience | undefined,
): Steps<Reached> {
  if (!audience || other?.scope === "organization") return { users: [] };
  const others = yield* namedIn(other, source);
  if (audience.scope === "organization") return { everybodyBut: others };
  return { users: yield* activeOf((yield* namedIn(audience, source)).difference(others), source) };
}

/** @returns the ids of the audience's users and of the members of its groups */
function* namedIn(
  audience: PackageAudience | undefined,
  { userGroups }: Pick<PeopleSource, "userGroups">,
): Steps<Set<string>> {
  const ids = new Set(audience?.user_ids);
  for (const group of audience?.group_ids ?? [])
    for (const id of yield* userGroups.members(group)) ids.add(id);
  return ids;
}

function* activeOf(ids: Iterable<string>, { db, identity }: PeopleSource): Steps<User[]> {
  const found: User[] = [];
  for (const id of ids) {
    const user = identity.findUserById(db.read, id);
    if (user?.status === "active") found.push(user);
    yield;
  }
  return found;
}
