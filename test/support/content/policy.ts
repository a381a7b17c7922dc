// Policies for tests of delivery through any interface: the first one, and packages published on top of it.

import type { Revision } from "../../../src/domain/governance/service.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { sectionOf } from "../../domain/governance/governance-world.ts";
import type { TestServer } from "../server.ts";

interface Site {
  domain: Pick<TestServer["domain"], "governance">;
  world: Pick<TestServer["world"], "organizationId" | "system">;
}

/** Publishes the first revision, or merges a deployment file as a later start does. @returns the id in force */
export async function publishFirst({ domain, world }: Site, more?: object): Promise<string> {
  const input = more && sectionOf(more);
  const section = input && { input: JSON.stringify(input), variables: {}, linesOf: async () => [] };
  return (await domain.governance.deployments.apply(world.system, section)).revision;
}

/** Publishes a number of seconds that differs from the deployment file. */
export async function publishConflict(site: Site): Promise<void> {
  const { governance } = site.domain;
  const operator: Actor = { ...site.world.system, kind: "operator" };
  const baseRevision = await publishFirst(site, { ttl_seconds: 60 });
  const managedYaml = JSON.stringify(sectionOf({ ttl_seconds: 70 }));
  await governance.publishing.publishPolicy(operator, { baseRevision, managedYaml });
  await publishFirst(site, { ttl_seconds: 80 });
}

export interface Extensions {
  packages?: readonly object[];
  /** users of each package that is not for everybody */
  audiences?: Readonly<Record<string, readonly string[]>>;
  overrides?: Readonly<Record<string, unknown>>;
}

/** Publishes packages that replace those before. */
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
