// Audiences of packages: checks the request of an administrator, carries audiences over to the next revision, and decides which
// packages one user sees. A package without an entry is for the whole organization.

import { type Problem, pointerOf } from "../../../platform/errors.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { User } from "../../identity/service.ts";
import {
  AUDIENCE_USERS_MAX,
  type GovernanceConfig,
  type HarnessPolicy,
  type PackageAudience,
  type PackageAudiences,
  type Revision,
} from "../model.ts";

type Packages = readonly { id: string }[];

/** An audience as a caller writes it. */
export interface AudienceInput {
  scope: PackageAudience["scope"];
  user_ids?: readonly string[];
}

export interface AudienceCheck {
  organizationId: string;
  /** ids in the document that the audiences are for */
  packages: readonly string[];
  /** the current audiences: a user named there may stay, active or not */
  former: PackageAudiences;
  findUser(id: string): User | undefined;
}

/**
 * @param problems receives every problem, with pointers below `/package_audiences`
 * @returns the audiences that are smaller than the organization
 */
export function* readAudiences(
  input: Readonly<Record<string, AudienceInput>>,
  check: AudienceCheck,
  problems: Problem[],
): Steps<PackageAudiences> {
  const ids = new Set(check.packages);
  const audiences: [string, PackageAudience][] = [];
  for (const [id, audience] of Object.entries(input)) {
    const userIds = (audience.user_ids ?? []).map((userId) => userId.toLowerCase());
    const add = (path: readonly (string | number)[], detail: string) =>
      problems.push({ pointer: pointerOf(["package_audiences", id, ...path]), detail });
    if (!ids.has(id)) add([], "no package of this request has this id");
    for (const detail of shapeProblems(audience.scope, userIds)) add(["user_ids"], detail);
    const known = new Set(audienceOf(check.former, id)?.user_ids);
    for (const [at, userId] of userIds.slice(0, AUDIENCE_USERS_MAX).entries()) {
      const fault = userProblem(userId, check, known);
      if (fault !== undefined) add(["user_ids", at], fault);
      yield;
    }
    audiences.push([id, { scope: audience.scope, user_ids: userIds }]);
  }
  return Object.fromEntries(audiences.filter(([, { scope }]) => scope === "users"));
}

function shapeProblems(scope: PackageAudience["scope"], userIds: readonly string[]): string[] {
  if (scope === "organization") return userIds.length === 0 ? [] : ["must be empty for the organization"];
  if (userIds.length === 0) return ["must name at least one user"];
  if (userIds.length > AUDIENCE_USERS_MAX) return [`may name at most ${AUDIENCE_USERS_MAX} users`];
  return new Set(userIds).size < userIds.length ? ["names a user twice"] : [];
}

function userProblem(id: string, check: AudienceCheck, known: ReadonlySet<string>): string | undefined {
  const user = check.findUser(id);
  if (known.has(id)) return undefined; // an erased user has no row
  if (user?.organizationId !== check.organizationId) return "no user has this id";
  return user.status === "active" ? undefined : `this user is ${user.status}`;
}

/** @returns the audiences of the packages that still exist; new packages are for everybody */
export function carryOverAudiences(audiences: PackageAudiences, packages: Packages): PackageAudiences {
  const ids = new Set(packages.map(({ id }) => id));
  return Object.fromEntries(Object.entries(audiences).filter(([id]) => ids.has(id)));
}

/** A package may be named `constructor`. */
const audienceOf = (audiences: PackageAudiences, id: string): PackageAudience | undefined =>
  Object.hasOwn(audiences, id) ? audiences[id] : undefined;

/** @returns one entry for each package of the document */
export const listAudiences = ({
  document,
  audiences,
}: Pick<Revision, "document" | "audiences">): Record<string, PackageAudience> =>
  Object.fromEntries(
    document.packages.map(({ id }) => [
      id,
      audienceOf(audiences, id) ?? { scope: "organization", user_ids: [] },
    ]),
  );

/** @returns ids of the packages that the user must not see, in the order of the document */
export const hiddenPackages = ({ document, audiences }: Revision, userId: string): string[] =>
  document.packages
    .map(({ id }) => id)
    .filter((id) => {
      const audience = audienceOf(audiences, id);
      return audience?.scope === "users" && !audience.user_ids.includes(userId);
    });

/** @returns the document without those packages and their overrides */
export function withoutPackages(document: GovernanceConfig, hidden: readonly string[]): GovernanceConfig {
  if (hidden.length === 0) return document;
  const isHidden = new Set(hidden);
  const isShown = (id: string) => !isHidden.has(id);
  const harnesses = Object.entries(document.harnesses).map(([key, policy]: [string, HarnessPolicy]) => {
    const overrides = Object.entries(policy.package_overrides).filter(([id]) => isShown(id));
    return [key, { ...policy, package_overrides: Object.fromEntries(overrides) }];
  });
  return {
    ...document,
    harnesses: Object.fromEntries(harnesses),
    packages: document.packages.filter(({ id }) => isShown(id)),
  };
}
