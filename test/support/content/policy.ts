// Policies for tests of whatever delivers them, on any face: the first one, and packages published on top of it.

import type { Revision } from "../../../src/domain/governance/service.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { sectionOf } from "../../domain/governance/governance-world.ts";
import type { TestServer } from "../server.ts";

type Site = Pick<TestServer, "domain" | "world">;

/** Publishes the first revision, or joins what a deployment file says at a later start. @returns the id in force */
export async function publishFirst({ domain, world }: Site, more?: object): Promise<string> {
  const input = more && sectionOf(more);
  const section = input && { input: JSON.stringify(input), variables: {}, linesOf: async () => [] };
  return (await domain.governance.deployments.apply(world.system, section)).revision;
}

export interface Extensions {
  packages?: readonly object[];
  /** users of each package that is not for everybody */
  audiences?: Readonly<Record<string, readonly string[]>>;
  overrides?: Readonly<Record<string, unknown>>;
}

/** Publishes packages in place of those before. */
export function publishPackages(
  { domain, world }: Site,
  { packages = [], audiences = {}, overrides = {} }: Extensions,
): Promise<Revision> {
  const operator: Actor = { ...world.system, kind: "operator" };
  const selected = Object.entries(audiences).map(([id, user_ids]) => [id, { scope: "users", user_ids }]);
  return domain.governance.publishing.publishExtensions(operator, {
    baseRevision: domain.governance.revisions.inForce(world.organizationId).id,
    packages,
    packageAudiences: Object.fromEntries(selected),
    packageOverrides: overrides,
  });
}
