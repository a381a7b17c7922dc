// The inventory of workstations: what each one reports, how that compares with the policy, and taking clients off the list.
// Joins the files of the area; a report comes in here.

import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Governance } from "../governance/service.ts";
import type { Harness } from "../harnesses/harnesses.ts";
import type { Identity } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import { Inventory } from "./inventory.ts";
import type { ClientStatusReport, Reporter } from "./model.ts";
import { ClientRemovals, type EndLogin } from "./removal.ts";
import { type ReadReport, readReport } from "./report.ts";
import { forgetUnseen, VerdictRenewal } from "./retention.ts";
import * as store from "./store.ts";
import type { CheckVersion } from "./verdict/expectations.ts";
import { createJudge, rulesOf } from "./verdict/judge.ts";

export type { ClientPage, ClientQuery, ClientView, FacetQuery } from "./inventory.ts";
export type { RemovalKind } from "./removal.ts";

export interface ClientsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Pick<Identity, "users" | "findUserById">;
  governance: Pick<Governance, "current" | "find">;
  checkVersion: CheckVersion;
  /** in force */
  harnesses(): readonly Harness[];
  endLogin: EndLogin;
}

export type Clients = ReturnType<typeof createClients>;

/** @returns the operations of the area; made once, in domain.ts */
export function createClients(dependencies: ClientsDependencies) {
  const { db, clock, ids, governance } = dependencies;
  const rules = () => rulesOf(dependencies.harnesses());
  const judge = createJudge({ ...dependencies, findRevision: governance.find });
  const inventory = new Inventory({
    ...dependencies,
    revisionInForce: (organizationId) => governance.current(organizationId)?.id,
  });
  return {
    inventory,
    removals: new ClientRemovals(dependencies),

    /**
     * Takes in what a workstation reports: one durable write for each report, an unchanged one too, because its time is
     * what tells that the workstation lives.
     * @throws DomainError `client_report.invalid`
     * @source control-api.md sections 10.1 and 10.2
     */
    async report(reporter: Reporter, report: ClientStatusReport): Promise<void> {
      const read = readReport(reporter, report);
      const { verdict, reasons } = judge(read);
      const nowMs = clock.nowMs();
      const judged = { verdict, reasons: JSON.stringify(reasons), judgedBy: rules() };
      const row = { ...rowOf(read), ...judged, id: ids.uuid(), firstSeenAtMs: nowMs, lastSeenAtMs: nowMs };
      await db.writeInCompany((tx) => {
        if (store.put(tx, row)) store.removeSurplus(tx, row.userId);
      }, "clients");
    },

    /** Forgets clients that never came back: see retention.ts. */
    forgetUnseen: (actor: Actor, run: { retentionDays: number; signal: AbortSignal }): Promise<number> =>
      forgetUnseen(dependencies, actor, run),

    verdictRenewal: new VerdictRenewal({ db, judge, rules }),
  };
}

const rowOf = (read: ReadReport) => {
  const { harnessesText: harnesses, packagesText: packages, attempt, ...row } = read;
  return { ...row, harnesses, packages, attempt: attempt && JSON.stringify(attempt) };
};
