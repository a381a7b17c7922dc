// Answers whether an installation is in order: problems first, then counts of workstations, users and keys, and the newest
// changes. The checks of doctor run elsewhere; only their results are read here. Counts of long tables are made in steps and
// cached briefly, so that many administrators who watch the overview cost no more than one.

import type { AuditLog } from "../../domain/audit/log.ts";
import type { NamedEntry } from "../../domain/audit/reading/entry-document.ts";
import type { Clients } from "../../domain/clients/service.ts";
import type { Gateway, GatewayFigures } from "../../domain/gateway/service.ts";
import type { Governance } from "../../domain/governance/service.ts";
import type { Identity } from "../../domain/identity/service.ts";
import type { Scim } from "../../domain/scim/service.ts";
import type { Diagnosis, Operations } from "../../domain/system/operations.ts";
import { type Clock, DAY_MS, SECOND_MS, within } from "../../platform/clock.ts";
import { runInTurns, type Steps } from "../../platform/steps.ts";
import { type OverviewProblem, problemsOf } from "./problems.ts";

export const REVISIONS_SHOWN = 5;
export const AUDIT_ENTRIES_SHOWN = 10;
/** How long counts are cached. */
export const FIGURES_KEPT_MS = 2 * SECOND_MS;
/** How long a reader waits for the checks of doctor. After that, the overview is shown without them. */
const DIAGNOSIS_WAIT_MS = SECOND_MS;
/** Pending invitations that expire this soon are problems. */
export const EXPIRY_NOTICE_MS = 2 * DAY_MS;
/** Refused requests of the identity provider are problems for this long. */
export const REFUSAL_NOTICE_MS = DAY_MS;

export interface OverviewDependencies {
  clock: Clock;
  auditLog: AuditLog;
  clients: Pick<Clients, "inventory">;
  gateway: Pick<Gateway, "mode" | "figuresInSteps">;
  governance: Pick<Governance, "revisions" | "deployments">;
  identity: Pick<Identity, "users" | "countExpiringInvitations">;
  scim: Pick<Scim, "refusals">;
  operations: Pick<Operations, "diagnose">;
}

export interface FleetFigures {
  current: number;
  outdated: number;
  attention: number;
  /** workstations that report the current revision, with any health */
  onNewest: number;
  total: number;
}

interface Figures {
  fleet: FleetFigures;
  users: { active: number; suspended: number; removed: number };
  /** gateway keys by state; undefined while gateway mode is off */
  keys: GatewayFigures["keys"] | undefined;
}

export interface OverviewView extends Figures {
  problems: readonly OverviewProblem[];
  /** when the checks of doctor ran; undefined while they run and if they failed to run */
  checkedAtMs: number | undefined;
  /** without documents, the one in force first */
  revisions: ReturnType<Governance["revisions"]["list"]>;
  /** newest first */
  entries: readonly NamedEntry[];
}

export class Overview {
  readonly #figures = new Map<string, { untilMs: number; figures: Promise<Figures> }>();
  readonly #counted = new Map<string, number>();

  constructor(private readonly dependencies: OverviewDependencies) {}

  /** @returns everything; the counts are some seconds old at most */
  async read(organizationId: string): Promise<OverviewView> {
    const { auditLog, governance } = this.dependencies;
    const [figures, { problems, checkedAtMs }] = await Promise.all([
      this.#figuresOf(organizationId),
      this.problems(organizationId),
    ]);
    return {
      ...figures,
      problems,
      checkedAtMs,
      revisions: governance.revisions.list(organizationId).slice(0, REVISIONS_SHOWN),
      entries: auditLog.listByKey(organizationId, { limit: AUDIT_ENTRIES_SHOWN }).items,
    };
  }

  /** @returns the problems, worst first */
  async problems(organizationId: string): Promise<Pick<OverviewView, "problems" | "checkedAtMs">> {
    const diagnosis = await this.#diagnosis();
    const { clock, governance, identity, scim } = this.dependencies;
    const nowMs = clock.nowMs();
    const problems = problemsOf({
      diagnosis,
      conflicts: governance.deployments.conflicts(organizationId),
      refusals: scim.refusals.list(organizationId).filter(({ atMs }) => nowMs - atMs < REFUSAL_NOTICE_MS)
        .length,
      expiring: identity.countExpiringInvitations({
        organizationId,
        afterMs: nowMs,
        byMs: nowMs + EXPIRY_NOTICE_MS,
      }),
    });
    if (diagnosis !== "running") this.#counted.set(organizationId, problems.length);
    return { problems, checkedAtMs: typeof diagnosis === "string" ? undefined : diagnosis.atMs };
  }

  /** @returns the number of problems of the last check; undefined before the first check */
  knownProblems(organizationId: string): number | undefined {
    return this.#counted.get(organizationId);
  }

  async #diagnosis(): Promise<Diagnosis | "running" | "impossible"> {
    try {
      return (await within(DIAGNOSIS_WAIT_MS, this.dependencies.operations.diagnose())) ?? "running";
    } catch {
      return "impossible"; // reported as a separate problem
    }
  }

  #figuresOf(organizationId: string): Promise<Figures> {
    const nowMs = this.dependencies.clock.nowMs();
    const kept = this.#figures.get(organizationId);
    if (kept && nowMs < kept.untilMs) return kept.figures;
    const figures = runInTurns(this.#count(organizationId));
    this.#figures.set(organizationId, { untilMs: nowMs + FIGURES_KEPT_MS, figures });
    figures.catch(() => this.#figures.delete(organizationId));
    return figures;
  }

  *#count(organizationId: string): Steps<Figures> {
    const { clients, gateway, identity } = this.dependencies;
    const { current, outdated, attention, onNewest } = yield* clients.inventory.fleetInSteps(organizationId);
    const users = { active: 0, suspended: 0, removed: 0 };
    for (const status of ["active", "suspended", "removed"] as const)
      users[status] = (yield* identity.users.listInSteps(organizationId, { status, perPage: 1 })).total;
    const keys = gateway.mode && (yield* gateway.figuresInSteps()).keys;
    const total = current + outdated + attention;
    return { fleet: { current, outdated, attention, onNewest, total }, users, keys };
  }
}
