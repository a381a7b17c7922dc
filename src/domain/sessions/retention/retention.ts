// Removes versions after their deadline: a transaction deletes rows and marks their objects, then the objects are deleted. A
// crash can leave an object that must still be deleted, but never a row without its object. If a store is down, the run ends and
// the next run continues.
import { DAY_MS } from "../../../platform/clock.ts";
import { runInBatches } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { sessionNotFound } from "../errors.ts";
import {
  RETENTION_BATCH_ROWS,
  RETENTION_OBJECTS_MAX,
  RETENTION_TURN_MS,
  TOMBSTONE_KEPT_MS,
} from "../limits.ts";
import type { SessionRow } from "../model.ts";
import type { Removals } from "../objects/removals.ts";
import { findSession } from "../store.ts";
import * as store from "./retention-store.ts";

/** The result of one run. */
export interface RetentionTurn {
  /** number of deleted rows of versions */
  artifacts: number;
  /** number of removed sessions without bytes */
  sessions: number;
  /** number of objects deleted from their store */
  objects: number;
  bytes: number;
  /** whether everything due is done */
  isDone: boolean;
}

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "settings"> & {
  removals: Removals;
};

export class Retention {
  constructor(private readonly dependencies: Dependencies) {}

  /**
   * Removes at most RETENTION_OBJECTS_MAX objects, in at most RETENTION_TURN_MS. Writes an audit entry with its counts if it
   * removed anything.
   */
  async run(actor: Actor, given: AbortSignal): Promise<RetentionTurn> {
    const { db, clock, audit, removals } = this.dependencies;
    const signal = AbortSignal.any([given, AbortSignal.timeout(RETENTION_TURN_MS)]);
    const nowMs = clock.nowMs();
    let artifacts = 0;
    while (artifacts < RETENTION_OBJECTS_MAX && !signal.aborted) {
      const limit = Math.min(RETENTION_BATCH_ROWS, RETENTION_OBJECTS_MAX - artifacts);
      const dropped = await db.write((tx) => store.dropDue(tx, { nowMs, limit }).length, "unobserved");
      artifacts += dropped;
      if (dropped < limit) break;
    }
    const goneBeforeMs = nowMs - TOMBSTONE_KEPT_MS;
    const limit = RETENTION_BATCH_ROWS;
    const forget = () => db.write((tx) => store.dropTombstones(tx, { goneBeforeMs, limit }), "unobserved");
    const sessions = await runInBatches(forget, { limit, signal });
    const drained = await removals.drain({ limit: RETENTION_OBJECTS_MAX, signal });
    const isDone =
      drained.isDone && drained.objects < RETENTION_OBJECTS_MAX && artifacts < RETENTION_OBJECTS_MAX;
    const { objects, bytes } = drained;
    const turn = { artifacts, sessions, objects, bytes };
    if (artifacts + sessions + objects > 0)
      await db.write((tx) => {
        const target = actor.organizationId;
        audit.record(tx, { actor, action: "captured_session.expire", target, after: turn });
      }, "unobserved");
    return { ...turn, isDone };
  }

  /** @returns how many deadlines `apply` would change, and how many versions the next turn would then remove */
  changes = (organizationId: string): { changed: number; due: number } =>
    store.countDeadlines(
      this.dependencies.db.read,
      this.#deadlines(organizationId),
      this.dependencies.clock.nowMs(),
    );

  /** Recomputes all deadlines from the current settings. @returns how many changed */
  async apply(actor: Actor, signal: AbortSignal): Promise<number> {
    const { db, audit, settings } = this.dependencies;
    const { organizationId } = actor;
    const deadlines = this.#deadlines(organizationId);
    let changed = 0;
    for (let afterId: string | undefined = ""; afterId !== undefined && !signal.aborted; ) {
      const from: string = afterId;
      const batch = await db.write(
        (tx) => store.recomputeDeadlines(tx, deadlines, { afterId: from, limit: RETENTION_BATCH_ROWS }),
        "unobserved",
      );
      changed += batch.changed;
      afterId = batch.lastId;
    }
    if (changed === 0) return 0;
    const after = {
      retention_days: settings.retentionDays,
      superseded_days: settings.supersededDays,
      changed,
    };
    await db.write((tx) => {
      audit.record(tx, { actor, action: "captured_session.apply_retention", target: organizationId, after });
    }, "unobserved");
    return changed;
  }

  /**
   * Sets or ends a hold, which protects a session from retention and deletion.
   * @returns whether anything changed
   * @throws DomainError `sessions.not_found`
   */
  async hold(actor: Actor, id: string, isHeld: boolean): Promise<boolean> {
    const { db, clock, audit } = this.dependencies;
    return await db.write((tx) => {
      const session = this.#find(tx, actor, id);
      if ((session.heldAtMs !== null) === isHeld) return false;
      store.setHold(tx, session.id, isHeld ? clock.nowMs() : null);
      const action = isHeld ? "captured_session.hold" : "captured_session.release";
      audit.record(tx, { actor, action, target: session.id, after: { owner: session.userId } });
      return true;
    }, "unobserved");
  }

  #deadlines = (organizationId: string): store.Deadlines => ({
    organizationId,
    retentionMs: this.dependencies.settings.retentionDays * DAY_MS,
    supersededMs: this.dependencies.settings.supersededDays * DAY_MS,
  });

  #find(connection: Parameters<typeof findSession>[0], { organizationId }: Actor, id: string): SessionRow {
    const session = findSession(connection, { organizationId, id });
    if (!session) throw sessionNotFound(id);
    return session;
  }
}
