// Audiences of packages: checks an administrator's request, carries audiences over to the next revision, and decides which
// packages a user sees. A package without an entry is for the whole organization.

import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { ownMember } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { User } from "../../identity/service.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import { withoutStrayOverrides } from "../document/package-overrides.ts";
import {
  AUDIENCE_GROUPS_MAX,
  AUDIENCE_USERS_MAX,
  type GovernanceConfig,
  type PackageAudience,
  type PackageAudiences,
  type Revision,
} from "../model.ts";

type Packages = readonly { id: string }[];

/** An audience in a request. */
export interface AudienceInput {
  scope: PackageAudience["scope"];
  user_ids?: readonly string[];
  /** default: the former ones stay */
  group_ids?: readonly string[];
}

export interface AudienceCheck {
  organizationId: string;
  /** ids of the document's packages */
  packages: readonly string[];
  /** the current audiences: inactive users and removed groups that they name may stay */
  former: PackageAudiences;
  findUser(id: string): User | undefined;
  hasGroup: UserGroups["has"];
}

/**
 * @param problems receives every problem, with pointers below `/package_audiences`
 * @returns the restricted audiences
 */
export function* readAudiences(
  input: Readonly<Record<string, AudienceInput>>,
  check: AudienceCheck,
  problems: Problem[],
): Steps<PackageAudiences> {
  const ids = new Set(check.packages);
  const audiences: [string, PackageAudience][] = [];
  for (const [id, audience] of Object.entries(input)) {
    const former = ownMember(check.former, id);
    const wanted = wantedAudience(audience, former);
    const add = (path: readonly (string | number)[], detail: string) =>
      problems.push({ pointer: pointerOf(["package_audiences", id, ...path]), detail });
    if (!ids.has(id)) {
      add([], "no package of this request has this id"); // its users and groups do not matter, and lookups take time
      continue;
    }
    for (const { member, detail } of shapeProblems(wanted)) add([member], detail);
    for (const { path, detail } of yield* unknownIdsIn(wanted, { check, former })) add(path, detail);
    audiences.push([id, wanted]);
  }
  return Object.fromEntries(audiences.filter(([, { scope }]) => scope === "users"));
}

/** Callers that do not know groups omit them, so the former ones stay. */
function wantedAudience(audience: AudienceInput, former: PackageAudience | undefined): PackageAudience {
  const { scope, user_ids: users = [] } = audience;
  const kept = scope === "users" ? former?.group_ids : undefined;
  const groups = (audience.group_ids ?? kept ?? []).map((id) => id.toLowerCase());
  const userIds = users.map((id) => id.toLowerCase());
  return { scope, user_ids: userIds, ...(groups.length > 0 && { group_ids: groups }) };
}

interface MemberProblem {
  member: "user_ids" | "group_ids";
  detail: string;
}

function shapeProblems({ scope, user_ids: users, group_ids: groups = [] }: PackageAudience): MemberProblem[] {
  const lists = [
    { member: "user_ids" as const, list: users, max: AUDIENCE_USERS_MAX, noun: "user" },
    { member: "group_ids" as const, list: groups, max: AUDIENCE_GROUPS_MAX, noun: "group" },
  ];
  if (scope === "users" && users.length + groups.length === 0)
    return [{ member: "user_ids", detail: "must name at least one user or group" }];
  return lists.flatMap(({ member, list, max, noun }) => {
    if (scope === "organization")
      return list.length === 0 ? [] : [{ member, detail: "must be empty for the organization" }];
    if (list.length > max) return [{ member, detail: `may name at most ${max} ${noun}s` }];
    return new Set(list).size < list.length ? [{ member, detail: `names a ${noun} twice` }] : [];
  });
}

/** @returns problems for the users and groups that the audience may not name */
function* unknownIdsIn(
  wanted: PackageAudience,
  { check, former }: { check: AudienceCheck; former: PackageAudience | undefined },
): Steps<{ path: readonly (string | number)[]; detail: string }[]> {
  const [knownUsers, knownGroups] = [new Set(former?.user_ids), new Set(former?.group_ids)];
  const found: { path: readonly (string | number)[]; detail: string }[] = [];
  for (const [at, id] of wanted.user_ids.slice(0, AUDIENCE_USERS_MAX).entries()) {
    const fault = userProblem(id, check, knownUsers);
    if (fault !== undefined) found.push({ path: ["user_ids", at], detail: fault });
    yield;
  }
  for (const [at, id] of (wanted.group_ids ?? []).slice(0, AUDIENCE_GROUPS_MAX).entries()) {
    const isKnown = knownGroups.has(id) || check.hasGroup(check.organizationId, id);
    if (!isKnown) found.push({ path: ["group_ids", at], detail: "no group has this id" });
    yield;
  }
  return found;
}

function userProblem(id: string, check: AudienceCheck, known: ReadonlySet<string>): string | undefined {
  const user = check.findUser(id);
  if (known.has(id)) return undefined; // an erased user has no row
  if (user?.organizationId !== check.organizationId) return "no user has this id";
  return user.status === "active" ? undefined : `${user.email} is ${user.status}`;
}

/** @returns the audiences of the packages that still exist; new packages are for everyone */
export function carryOverAudiences(audiences: PackageAudiences, packages: Packages): PackageAudiences {
  const ids = new Set(packages.map(({ id }) => id));
  return Object.fromEntries(Object.entries(audiences).filter(([id]) => ids.has(id)));
}

export const listAudiences = ({
  document,
  audiences,
}: Pick<Revision, "document" | "audiences">): Record<string, PackageAudience> =>
  Object.fromEntries(
    document.packages.map(({ id }) => [
      id,
      ownMember(audiences, id) ?? { scope: "organization", user_ids: [] },
    ]),
  );

/** The user whose packages are decided. */
export interface Person {
  id: string;
  /** ids of the groups of the user; called only if an audience names groups */
  groups(): readonly string[];
}

/** @returns the user with the current groups, which are read at most once */
export function personOf(id: string, userGroups: Pick<UserGroups, "of">): Person {
  let known: readonly string[] | undefined;
  return {
    id,
    groups() {
      known ??= userGroups.of(id);
      return known;
    },
  };
}

/** @returns whether a user is in the audience, as a function; without an audience everyone is */
export function membershipIn(audience: PackageAudience | undefined): (person: Person) => boolean {
  if (audience?.scope !== "users") return () => true;
  const [users, groups] = [new Set(audience.user_ids), new Set(audience.group_ids)];
  return (person) =>
    users.has(person.id) || (groups.size > 0 && person.groups().some((id) => groups.has(id)));
}

/** @returns ids of the packages that the user must not see, in the order of the document */
export const hiddenPackages = (
  { document, audiences }: Pick<Revision, "document" | "audiences">,
  person: Person,
): string[] => document.packages.map(({ id }) => id).filter((id) => !isIn(ownMember(audiences, id), person));

/** Like `membershipIn`, for a single check. */
function isIn(audience: PackageAudience | undefined, { id, groups }: Person): boolean {
  if (audience?.scope !== "users" || audience.user_ids.includes(id)) return true;
  const named = audience.group_ids ?? [];
  return named.length > 0 && groups().some((group) => named.includes(group));
}

/** @returns the document without those packages and their overrides */
export function withoutPackages(document: GovernanceConfig, hidden: readonly string[]): GovernanceConfig {
  if (hidden.length === 0) return document;
  const isHidden = new Set(hidden);
  const packages = document.packages.filter(({ id }) => !isHidden.has(id));
  return withoutStrayOverrides({ ...document, packages });
}
