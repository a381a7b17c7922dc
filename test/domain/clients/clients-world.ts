// The real domain with a policy, users, and workstations that report.
import type { ClientStatusReport, Reporter } from "../../../src/domain/clients/model.ts";
import type { ClientView } from "../../../src/domain/clients/service.ts";
import type { GovernanceConfig, PackageAudiences } from "../../../src/domain/governance/service.ts";
import { insertRevision } from "../../../src/domain/governance/store.ts";
import {
  type Caller,
  createTestServer,
  type TestServer,
  type TestServerOptions,
} from "../../support/server.ts";
import { documentWith, reportWith } from "./policies.ts";

export const reporterOf = ({ user, loginSessionId }: Caller): Reporter => ({
  userId: user.id,
  organizationId: user.organizationId,
  loginSessionId,
  grantId: null,
});

export interface ClientsWorld extends TestServer {
  organizationId: string;
  /** a member with a workstation */
  ana: Caller;
  /** Publishes a revision. @returns its id */
  publish(document?: Partial<GovernanceConfig>, audiences?: PackageAudiences): Promise<string>;
  /** Stores a report of ana's workstation, or of the given user's. */
  report(members?: Partial<ClientStatusReport>, caller?: Caller): Promise<void>;
  /** @returns every client, most recently seen first */
  listed(): readonly ClientView[];
}

export async function createClientsWorld(options: TestServerOptions = {}): Promise<ClientsWorld> {
  const server = await createTestServer(options);
  const { world, domain } = server;
  const { organizationId } = world;
  const ana = await server.signedIn("member", { email: "ana@example.org" });
  return {
    ...server,
    organizationId,
    ana,
    publish: (document = {}, audiences = {}) => publishOn(server, { document, audiences }),
    report: (members, caller = ana) => domain.clients.report(reporterOf(caller), reportWith(members)),
    listed: () => domain.clients.inventory.list(organizationId, { perPage: 100 }).items,
  };
}

/** Publishes a revision. @returns its id */
export async function publishOn(
  { world }: Pick<TestServer, "world">,
  {
    document = {},
    audiences = {},
  }: { document?: Partial<GovernanceConfig>; audiences?: PackageAudiences } = {},
): Promise<string> {
  const { db, ids, clock, organizationId } = world;
  const id = ids.uuid();
  const { label: authorLabel } = world.system;
  const author = { origin: "operator" as const, authorId: null, authorLabel, comment: null };
  const revision = { id, organizationId, audiences, ...author, createdAtMs: clock.nowMs() };
  await db.write((tx) => {
    insertRevision(tx, { ...revision, document: documentWith({ ...document, revision: id }) });
  }, "governance");
  return id;
}
