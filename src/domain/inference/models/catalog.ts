// The catalog of models that the gateway offers: refreshes it, shows it with the assignments of the policy, and acknowledges
// changed models. governance/publishing assigns models.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import type { Audit, AuditSummary } from "../../audit/service.ts";
import {
  type Gateway,
  type GatewayMode,
  gatewayOff,
  ListingError,
  type ListingQuestion,
} from "../../gateway/service.ts";
import type { Governance, Revision } from "../../governance/service.ts";
import type { HarnessFacts } from "../../harnesses/harness-facts.ts";
import type { Actor } from "../../shared/actor.ts";
import { assignedModels } from "./allowed-models.ts";
import { acknowledgedRow, isStale, isSupported, type ModelState, stateOf } from "./model.ts";
import { type CatalogChanges, settleFailure, settleListing } from "./settle.ts";
import * as store from "./store.ts";
import { assignmentsOf, type ModelCatalogView, toCatalogView } from "./view.ts";

export interface ModelCatalogDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  gateway: Pick<Gateway, "mode" | "listModels">;
  revisions: Pick<Governance["revisions"], "current" | "inForce">;
  harnesses: Pick<HarnessFacts, "harnesses">;
}

/** `superseded`: a refresh that began later was stored first, for example by a command. */
export type RefreshResult =
  | ({ result: "refreshed" } & CatalogChanges)
  | { result: "unsupported" | "superseded" };

/** For `status` and `doctor`. */
export interface CatalogFigures {
  states: Readonly<Record<ModelState, number>>;
  assignments: ModelCatalogView["assignments"];
  /** assigned models that are not available, by id */
  assignedProblems: readonly { id: string; state: ModelState }[];
  refreshedAtMs: number | null;
  problem: string | null;
  isStale: boolean;
  isSupported: boolean | null;
}

export class ModelCatalog {
  #running: Promise<RefreshResult> | undefined;

  constructor(private readonly dependencies: ModelCatalogDependencies) {}

  /**
   * @param policy policy whose assignments are shown; default: the current one
   * @throws DomainError `gateway.off`, `governance.no_policy`
   */
  view(organizationId: string, policy?: Pick<Revision, "id" | "document">): ModelCatalogView {
    const { db, clock, harnesses, revisions } = this.dependencies;
    const { settings } = this.#mode();
    return db.readConsistently(() =>
      toCatalogView({
        revision: policy ?? revisions.inForce(organizationId),
        gatewayType: settings.type,
        intervalSeconds: settings.provisioner.modelCatalogRefreshSeconds,
        sync: store.findSync(db.read, organizationId),
        rows: store.listModels(db.read, organizationId),
        harnesses: harnesses.harnesses(),
        nowMs: clock.nowMs(),
      }),
    );
  }

  /** @returns facts for operators; undefined when gateway mode is off */
  figures(organizationId: string): CatalogFigures | undefined {
    const { db, clock, gateway, revisions } = this.dependencies;
    const revision = revisions.current(organizationId);
    if (!gateway.mode) return undefined;
    const intervalMs = gateway.mode.settings.provisioner.modelCatalogRefreshSeconds * SECOND_MS;
    const rows = new Map(store.listModels(db.read, organizationId).map((row) => [row.id, row]));
    const sync = store.findSync(db.read, organizationId);
    const assigned = [...assignedModels(revision)].toSorted();
    const unknown = assigned.filter((id) => !rows.has(id));
    const states: Record<ModelState, number> = {
      available: 0,
      changed: 0,
      removed: 0,
      unknown: unknown.length,
    };
    for (const row of rows.values()) states[stateOf(row)] += 1;
    return {
      states,
      assignments: revision ? assignmentsOf(revision) : "none",
      assignedProblems: assigned
        .map((id) => ({ id, state: stateOf(rows.get(id)) }))
        .filter(({ state }) => state !== "available"),
      refreshedAtMs: sync?.refreshedAtMs ?? null,
      problem: sync?.problem ?? null,
      isStale: isStale(sync, { nowMs: clock.nowMs(), intervalMs }),
      isSupported: isSupported(sync),
    };
  }

  /**
   * Requests the gateway's models. If a refresh is running, returns its result.
   * @throws ListingError if there is no list; DomainError `gateway.off`
   */
  refresh(organizationId: string, question: ListingQuestion = {}): Promise<RefreshResult> {
    this.#mode();
    this.#running ??= this.#refresh(organizationId, question).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Refreshes for a person, and always records it in the audit log. @throws as `refresh` */
  async refreshFor(actor: Actor): Promise<RefreshResult> {
    const { organizationId, requestId } = actor;
    try {
      const result = await this.refresh(organizationId, { requestId });
      await this.#record(actor, { ...result });
      return result;
    } catch (error) {
      if (error instanceof ListingError) await this.#record(actor, { result: error.code });
      throw error;
    }
  }

  /**
   * The scheduled refresh. After "unsupported", only a person's refresh tries again.
   * @param isFirst whether it is the first of this service, because the provisioner may have been replaced
   * @returns undefined if it sent no request or learned nothing
   */
  async refreshOnSchedule(
    organizationId: string,
    { isFirst, signal }: { isFirst: boolean; signal: AbortSignal },
  ): Promise<RefreshResult | undefined> {
    const sync = store.findSync(this.dependencies.db.read, organizationId);
    if (isSupported(sync) === false && !isFirst) return undefined;
    try {
      return await this.refresh(organizationId, { signal });
    } catch (error) {
      // The error is stored, counted and logged; the next run tries again.
      if (!(error instanceof ListingError)) throw error;
      return undefined;
    }
  }

  /**
   * Acknowledges the current name and metadata of a model. Changes nothing if they are already acknowledged.
   * @param fingerprint of the model that the actor saw
   * @returns whether anything changed
   * @throws DomainError `gateway.off`, `gateway.model_not_found`, `gateway.model_changed`
   */
  acknowledge(
    actor: Actor,
    { modelId, fingerprint }: { modelId: string; fingerprint: string },
  ): Promise<boolean> {
    const { db, audit } = this.dependencies;
    this.#mode();
    return db.write((tx) => {
      const row = store.findModel(tx, actor.organizationId, modelId);
      if (!row) throw modelNotFound(modelId);
      if (row.fingerprint !== fingerprint) throw modelChanged(modelId);
      if (row.acknowledgedFingerprint === fingerprint) return false;
      store.putModel(tx, acknowledgedRow(row));
      audit.record(tx, {
        actor,
        action: "model_catalog.acknowledge",
        target: modelId,
        before: { fingerprint: row.acknowledgedFingerprint },
        after: { fingerprint },
      });
      return true;
    }, "unobserved");
  }

  async #refresh(organizationId: string, question: ListingQuestion): Promise<RefreshResult> {
    const { db, clock, gateway } = this.dependencies;
    const refresh = { organizationId, beganAtMs: clock.nowMs() };
    try {
      const listing = await gateway.listModels(question);
      const assigned = this.#assigned(organizationId);
      const changes = await db.writeInSteps(
        (tx) => settleListing(tx, listing, { ...refresh, assigned, nowMs: clock.nowMs() }),
        "unobserved",
      );
      return changes ? { result: "refreshed", ...changes } : { result: "superseded" };
    } catch (error) {
      if (!(error instanceof ListingError)) throw error;
      const ended = { ...refresh, nowMs: clock.nowMs() };
      await db.write((tx) => settleFailure(tx, error, ended), "unobserved");
      if (error.code === "unsupported") return { result: "unsupported" };
      throw error;
    }
  }

  #record(actor: Actor, after: AuditSummary): Promise<void> {
    const { db, audit } = this.dependencies;
    const event = { actor, action: "model_catalog.refresh", target: actor.organizationId, after };
    return db.write((tx) => audit.record(tx, event), "unobserved");
  }

  #assigned(organizationId: string): ReadonlySet<string> {
    return assignedModels(this.dependencies.revisions.current(organizationId));
  }

  #mode(): GatewayMode {
    const { mode } = this.dependencies.gateway;
    if (!mode) throw gatewayOff();
    return mode;
  }
}

const modelNotFound = (id: string) =>
  new DomainError("not_found", "gateway.model_not_found", `the gateway never offered a model ${quoted(id)}`, {
    hint: "see `quartermaster gateway models list`",
    missing: { kind: "model", name: id },
  });

const modelChanged = (id: string) =>
  new DomainError("conflict", "gateway.model_changed", `the model ${quoted(id)} has changed again`, {
    hint: "review it, then acknowledge its current state",
  });
