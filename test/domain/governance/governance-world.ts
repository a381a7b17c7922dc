// A server whose first policy is published, with functions that change the policy as each author does.
import { asc } from "drizzle-orm";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import type {
  DeploymentOutcome,
  Governance,
  GovernanceConfig,
  Revision,
} from "../../../src/domain/governance/service.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { DomainError, type Problem } from "../../../src/platform/errors.ts";
import { createTestServer, type TestServer, type TestServerOptions } from "../../support/server.ts";

export const DIGEST = "ab".repeat(32);

/** @returns a package for every harness: only settings, from a public address */
export const packageOf = (id: string, more: object = {}) => ({
  id,
  version: "1.0.0",
  source_ref: `https://packages.example.com/${id}.tar.gz`,
  sha256: DIGEST,
  settings: {},
  adapters: {},
  ...more,
});

/** @returns a deployment file's section with the safe default and additions */
export const sectionOf = (more: object = {}): object => ({
  revision: "file",
  allowed_harnesses: ["codex", "claude", "kimi", "opencode"],
  ...more,
});

export interface GovernanceWorld extends TestServer {
  governance: Governance;
  admin: Actor;
  operator: Actor;
  inForce(): Revision;
  /** applies a section as at a start; none by default */
  start(section?: object, env?: Readonly<Record<string, string>>): Promise<DeploymentOutcome>;
  /** publishes the policy text of the dashboard on the current revision */
  publish(more: object, baseRevision?: string): Promise<Revision>;
  /** the last entry of the audit log about a policy */
  audited(): { action: string; actor: string; after: Record<string, unknown> };
  count(): number;
}

/** @param first the deployment section of the first start; none by default */
export async function createGovernanceWorld(
  first?: object,
  options: TestServerOptions = {},
): Promise<GovernanceWorld> {
  const server = await createTestServer(options);
  const { world, domain } = server;
  const { governance } = domain;
  const { organizationId } = world;
  const admin: Actor = { kind: "user", id: world.ids.uuid(), label: "ana@example.com", organizationId };
  const start = (section?: object, env: Readonly<Record<string, string>> = {}) =>
    governance.deployments.apply(
      world.system,
      section && {
        input: JSON.stringify(section),
        variables: env,
        linesOf: async (pointers) => pointers.map(() => 7),
      },
    );
  const inForce = () => governance.revisions.inForce(organizationId);
  await start(first);
  return Object.assign(server, {
    governance,
    admin,
    operator: { ...admin, kind: "operator" as const, id: null, label: "root" },
    inForce,
    start,
    publish: (more: object, baseRevision = inForce().id) =>
      governance.publishing.publishPolicy(admin, { baseRevision, managedYaml: managedText(more) }),
    audited() {
      const entries = world.db.read.select().from(auditEntries).orderBy(asc(auditEntries.id)).all();
      const last = entries.findLast(({ action }) => action.startsWith("policy."));
      if (!last) throw new Error("no policy was published");
      return { action: last.action, actor: last.actorLabel, after: JSON.parse(last.after ?? "{}") };
    },
    count: () => governance.revisions.list(organizationId).length,
  });
}

/** @returns a policy text as the dashboard sends it */
export const managedText = (more: object): string => JSON.stringify(sectionOf(more));

/** @returns the reason and the places of a refusal */
export async function refusalOf(work: () => unknown): Promise<{
  kind: string;
  reason: string;
  message: string;
  hint: string | undefined;
  pointers: string[];
  problems: readonly Problem[];
}> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { kind, reason, message, hint, problems } = error;
    return { kind, reason, message, hint, pointers: problems.map(({ pointer }) => pointer), problems };
  }
  throw new Error("nothing was refused");
}

/** @returns the document without the members that differ in each revision */
export const saidBy = ({
  document: { revision: _, ...rest },
}: Revision): Omit<GovernanceConfig, "revision"> => rest;
