// The inventory of workstations: receives reports, compares them with the policy, lists clients and removes them.
// This file assembles the area and handles an incoming report.

import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Steps } from "../../platform/steps.ts";
import type { Audit } from "../audit/service.ts";
import type { Governance } from "../governance/service.ts";
import type { Harness } from "../harnesses/harnesses.ts";
import type { Identity } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import { optimizeIndex } from "../shared/text-search/trigram-store.ts";
import type { UserGroups } from "../shared/user-groups.ts";
import { BulkRemovals } from "./bulk-removal.ts";
import { Inventory } from "./inventory/inventory.ts";
import { figuresOf } from "./inventory-figures.ts";
import type { ClientStatusReport, Reporter } from "./model.ts";
import { ClientRemovals, type EndLogin } from "./removal.ts";
import { type ReadReport, readReport } from "./report.ts";
import { forgetUnseen, VerdictRenewal } from "./retention.ts";
import { impactOf, type PolicyImpact } from "./rollout/impact.ts";
import { PackageReports } from "./rollout/package-reports.ts";
import { type PolicyChange, peopleOf, type Reached } from "./rollout/people.ts";
import { Rollouts } from "./rollout/rollout.ts";
import * as store from "./store.ts";
import type { CheckVersion } from "./verdict/expectations.ts";
import { createEvaluator, rulesOf } from "./verdict/verdict-cache.ts";

export type { Selection } from "./bulk-removal.ts";
export type { HarnessVersionCount } from "./inventory/harness-versions.ts";
export type {
  ClientFacets,
  ClientFilterQuery,
  ClientPage,
  ClientQuery,
  ClientSummary,
  ClientView,
} from "./inventory/inventory.ts";
export type { UserFigures } from "./inventory/user-figures-store.ts";
export type { RemovalKind } from "./removal.ts";
export {
  HARNESS_NOT_ALLOWED,
  type HarnessImpact,
  IMPACT_TURN_MS,
  type PackageImpact,
  type PolicyImpact,
} from "./rollout/impact.ts";
export type { PackageCounts, PackageFailures } from "./rollout/package-reports.ts";
export type { HealthCounts, Rollout } from "./rollout/rollout.ts";

export interface ClientsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Pick<Identity, "users" | "findUserById">;
  governance: Pick<Governance, "revisions">;
  checkVersion: CheckVersion;
  userGroups: UserGroups;
  /** in force */
  harnesses(): readonly Harness[];
  endLogin: EndLogin;
  /** @returns the number of all users' keys at the gateway */
  countKeys(): number;
}

export type Clients = ReturnType<typeof createClients>;

/** @returns the operations of the area; called once, in domain.ts */
export function createClients(dependencies: ClientsDependencies) {
  const { db, clock, ids, governance } = dependencies;
  const rules = () => rulesOf(dependencies.harnesses());
  const evaluate = createEvaluator({
    ...dependencies,
    findRevision: (organizationId, id) => governance.revisions.find(organizationId, id),
  });
  const inventory = new Inventory({
    ...dependencies,
    revisionInForce: (organizationId) => governance.revisions.current(organizationId)?.id,
  });
  return {
    /** Grows whenever this or another process may have changed workstations. */
    revision: (): number => db.revision("clients"),
    inventory,
    removals: new ClientRemovals(dependencies),
    bulkRemovals: new BulkRemovals({ ...dependencies, inventory }),

    rollouts: new Rollouts({ db, clock, inventory }),

    packageReports: new PackageReports({ db, clock }),

    /** @returns the effect of replacing one policy with another */
    impactOf: (organizationId: string, change: PolicyChange): Steps<PolicyImpact> =>
      impactOf({ ...dependencies, inventory }, organizationId, change),

    /** @returns the users who gain or lose a package because of the change */
    peopleOf: (change: PolicyChange, which: Parameters<typeof peopleOf>[2]): Steps<Reached> =>
      peopleOf(dependencies, change, which),

    /**
     * Stores a workstation's report. Every report, even an unchanged one, is a durable write, because its time shows that the
     * workstation is active.
     * @throws DomainError `client_report.invalid`
     */
    async report(reporter: Reporter, report: ClientStatusReport): Promise<void> {
      const read = readReport(reporter, report);
      const { verdict, reasons } = evaluate(read);
      const nowMs = clock.nowMs();
      const evaluation = {
        verdict,
        reasons: JSON.stringify(reasons),
        evaluatedBy: rules(),
        ...figuresOf(read),
      };
      const row = {
        ...rowOf(read),
        ...evaluation,
        id: ids.uuid(),
        firstSeenAtMs: nowMs,
        lastSeenAtMs: nowMs,
      };
      await db.writeGrouped((tx) => store.put(tx, row), "clients");
    },

    /** Removes clients that stopped reporting: see retention.ts. */
    forgetUnseen: (actor: Actor, run: { retentionDays: number; signal: AbortSignal }): Promise<number> =>
      forgetUnseen(dependencies, actor, run),

    /** Frees the space that removed clients have left in the search index. */
    optimizeSearch: (signal: AbortSignal): Promise<void> => optimizeIndex(db, "client_search", signal),

    verdictRenewal: new VerdictRenewal({ db, evaluate, rules }),
  };
}

const rowOf = (read: ReadReport) => {
  const { harnessesText: harnesses, packagesText: packages, attempt, ...row } = read;
  return { ...row, harnesses, packages, attempt: attempt && JSON.stringify(attempt) };
};
