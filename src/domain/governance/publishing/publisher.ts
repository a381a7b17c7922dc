// The only way to create a revision, for every kind of author. A revision is based on the current one, which is compared again
// inside the transaction. publishing.ts decides what an author may change; validation.ts checks it.
import { setImmediate } from "node:timers/promises";
import type { Tx } from "../../../platform/database/database.ts";
import type { Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GovernanceDependencies } from "../dependencies.ts";
import { secondAdministratorRequired } from "../drafts/draft-errors.ts";
import { noPolicy, PATHS_NAMED_MAX, refuseProblems, staleRevision } from "../errors.ts";
import { COMMENT_LENGTH_MAX, type GovernanceConfig, type PackageAudiences, type Revision } from "../model.ts";
import type { Revisions } from "../reading/revisions.ts";
import { summaryOf } from "../reading/summary.ts";
import * as store from "../store.ts";
import type { Origin } from "../wire.ts";
import { changedAudiences } from "./diff.ts";
import { type FinalizeContext, withoutRevisionFields } from "./finalize.ts";
import { openConflicts } from "./merge.ts";

/** A requested revision, stamped and checked. */
export interface Proposal {
  /** with the id of the new revision */
  document: GovernanceConfig;
  /** the same document as JSON */
  text: string;
  /** places where the document differs from the current one */
  changed: readonly string[];
  audiences: PackageAudiences;
  comment?: string | undefined;
  /** action of the audit entry: `policy.publish` */
  action: string;
  /** the draft that is published; undefined for a direct publication */
  draft?: PublishedDraft;
}

/** A revision to add. */
interface Addition extends Proposal {
  base: Revision | undefined;
  origin: Origin;
  /** result of summaryOf, computed before the transaction because it compares documents of megabytes */
  summary: string;
}

interface PublishedDraft {
  /** address of its author, if another user publishes it */
  writtenBy: string | undefined;
  /** runs in the same transaction, before the revision is added; an error prevents the publication */
  remove(tx: Tx): void;
}

export class Publisher {
  constructor(private readonly dependencies: GovernanceDependencies & { revisions: Revisions }) {}

  /**
   * @returns the current revision, from which the author started
   * @throws DomainError `governance.no_policy`, `governance.stale_revision`
   */
  async begin({ organizationId }: Pick<Actor, "organizationId">, baseRevision: string): Promise<Revision> {
    const { revisions } = this.dependencies;
    const current = revisions.current(organizationId);
    if (!current) throw noPolicy();
    if (current.id !== baseRevision) throw await this.#stale(current, baseRevision);
    return current;
  }

  /** @returns the inputs for stamping and checking an author's next document */
  frame({ gateway }: Pick<FinalizeContext, "gateway">): FinalizeContext {
    const { settings, ids, harnesses } = this.dependencies;
    const { extension } = harnesses.inForce();
    return { gateway, serverVersion: settings.serverVersion, revision: ids.uuid(), extension };
  }

  /**
   * The service knows whether it runs in gateway mode. A command may run without the service's configuration, so a document
   * that an operator publishes keeps the current mode.
   */
  hasGateway({ kind }: Pick<Actor, "kind">, base: Revision | undefined): boolean {
    if (kind === "operator") return base?.document.gateway !== undefined;
    return this.dependencies.settings.gatewayType !== undefined;
  }

  /**
   * Publishes a revision based on another.
   * @throws DomainError `governance.invalid`, `governance.stale_revision`, `policy_draft.second_administrator`
   */
  async publish(actor: Actor, base: Revision, proposal: Proposal): Promise<Revision> {
    refuseProblems(commentProblems(proposal.comment));
    if (actor.kind === "user" && !proposal.draft && this.dependencies.settings.requiresSecondAdministrator())
      throw secondAdministratorRequired();
    const { organizationId } = actor;
    const summary = await runInTurns(summaryOf(base, proposal));
    await setImmediate(); // lets other requests run before the transaction
    const added = await this.dependencies.db.write((tx) => {
      if (store.newestId(tx, organizationId) !== base.id) return undefined;
      proposal.draft?.remove(tx);
      return this.add(tx, actor, { ...proposal, base, summary, origin: originOf(actor) });
    }, "governance");
    if (added) return this.dependencies.revisions.keep(added);
    throw await this.#stale(this.dependencies.revisions.inForce(organizationId), base.id);
  }

  /** Refuses an invalid comment even if there is nothing to publish. */
  unchanged(base: Revision, { comment }: Pick<Proposal, "comment">): Revision {
    refuseProblems(commentProblems(comment));
    return base;
  }

  /** Adds the revision and its audit entry; the caller compared the base revision in this transaction. */
  add(tx: Tx, actor: Actor, next: Addition): Revision {
    const { clock, audit } = this.dependencies;
    const { base, document, text, audiences, summary, origin, comment, action, changed, draft } = next;
    const writer = draft?.writtenBy === undefined ? {} : { written_by: draft.writtenBy };
    const id = document.revision;
    const added = {
      id,
      organizationId: actor.organizationId,
      document,
      audiences,
      origin,
      authorId: actor.id,
      authorLabel: actor.label,
      comment: comment?.trim() || null,
      summary,
      createdAtMs: clock.nowMs(),
    };
    const revision = store.insertRevision(tx, added, text);
    this.#settleConflicts(tx, revision);
    const places = base ? [...changed, ...changedAudiences(base, revision)].slice(0, PATHS_NAMED_MAX) : [];
    audit.record(tx, {
      actor,
      action,
      target: id,
      ...(base && { before: { revision: base.id } }),
      after: { origin, comment: revision.comment, changed: places, ...writer },
    });
    return revision;
  }

  /** A place where the authors agree again stops being a conflict, even if only one of them changes it later. */
  #settleConflicts(tx: Tx, { organizationId, document }: Revision): void {
    if (store.conflictsText(tx, organizationId) === "[]") return;
    const deployment = store.findDeployment(tx, organizationId);
    if (!deployment) return;
    const sides = { current: withoutRevisionFields(document), wanted: JSON.parse(deployment.baseline) };
    const conflicts = openConflicts(deployment.conflicts, sides);
    if (conflicts.length < deployment.conflicts.length) store.putDeployment(tx, { ...deployment, conflicts });
  }

  async #stale(current: Revision, baseRevision: string) {
    const base = this.dependencies.revisions.find(current.organizationId, baseRevision);
    if (!base) return staleRevision(current.id, []);
    const documents = { before: JSON.stringify(base.document), after: JSON.stringify(current.document) };
    const changed = await this.dependencies.runTask("compare", documents);
    return staleRevision(current.id, [...changed, ...changedAudiences(base, current)]);
  }
}

const originOf = ({ kind }: Actor): Origin => (kind === "operator" ? "operator" : "dashboard");

function commentProblems(comment: string | undefined): Problem[] {
  if (comment === undefined || [...comment.trim()].length <= COMMENT_LENGTH_MAX) return [];
  return [{ pointer: "/comment", detail: `may have at most ${COMMENT_LENGTH_MAX} characters` }];
}
