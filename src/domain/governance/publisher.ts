// The one way to a new revision, whoever its author: begun from the revision that is in force, stamped and judged as a
// whole, compared again inside the transaction that adds it. What an author may change is publishing.ts's.
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "../actor.ts";
import type { Problem } from "../errors.ts";
import type { GovernanceDependencies } from "./dependencies.ts";
import { type Change, diffRevisions } from "./diff.ts";
import { checkDocument, checkRanges } from "./document/read.ts";
import { stamp, unstamped } from "./document/stamp.ts";
import { noPolicy, PATHS_NAMED_MAX, refuseProblems, staleRevision } from "./errors.ts";
import { standingConflicts } from "./merge.ts";
import { COMMENT_LENGTH_MAX, type GovernanceConfig, type PackageAudiences, type Revision } from "./model.ts";
import { isSame } from "./paths.ts";
import type { Revisions } from "./revisions.ts";
import * as store from "./store.ts";
import type { Origin } from "./wire.ts";

/** A revision that somebody wants, stamped and judged. */
export interface Proposal {
  document: GovernanceConfig;
  audiences: PackageAudiences;
  comment?: string | undefined;
  /** of the audit entry: `policy.publish` */
  action: string;
}

export interface FinishOptions {
  /** whether the document gets a gateway block: see `hasGateway` */
  gateway: boolean;
  problems: Problem[];
}

/** For a document that comes after another; none for the first. */
export interface FinishAfter extends FinishOptions {
  base: Revision | undefined;
}

export class Publisher {
  constructor(private readonly dependencies: GovernanceDependencies & { revisions: Revisions }) {}

  /**
   * @returns the revision in force, from which the author began
   * @throws DomainError `governance.no_policy`, `governance.stale_revision`
   */
  begin({ organizationId }: Pick<Actor, "organizationId">, baseRevision: string): Revision {
    const { revisions } = this.dependencies;
    const current = revisions.current(organizationId);
    if (!current) throw noPolicy();
    if (current.id !== baseRevision) throw this.#stale(current, baseRevision);
    return current;
  }

  /**
   * Stamps what an administrator wrote, and judges the whole; a range that is in force already is no reason to refuse what
   * does not touch it (control-api.md section 20 item 29).
   * @param document without stamps
   * @param problems gets everything that is wrong, with pointers into the document
   */
  finish(document: GovernanceConfig, { base, ...options }: FinishAfter): GovernanceConfig {
    const stamped = this.finishAsIs(document, options);
    const former = base ? checkRanges(base.document) : [];
    const isNew = (problem: Problem) => !former.some((known) => isSame(known, problem));
    options.problems.push(...checkRanges(stamped).filter(isNew));
    return stamped;
  }

  /**
   * The same, but for ranges that no certified version satisfies: what was published once, or stands in the deployment
   * file, must not be refused because other versions are certified today (control-api.md section 4.2, last paragraph).
   */
  finishAsIs(document: GovernanceConfig, { gateway, problems }: FinishOptions): GovernanceConfig {
    const { serverVersion } = this.dependencies.settings;
    const stamped = stamp(document, { gateway, serverVersion });
    problems.push(...checkDocument(stamped, { gateway }));
    return stamped;
  }

  /**
   * The service knows whether it runs in gateway mode. A command may run without the service's configuration, so what an
   * operator publishes stays in the mode that is in force.
   */
  hasGateway({ kind }: Pick<Actor, "kind">, base: Revision | undefined): boolean {
    if (kind === "operator") return base?.document.gateway !== undefined;
    return this.dependencies.settings.gatewayType !== undefined;
  }

  /**
   * Publishes on top of a revision; the same again publishes nothing.
   * @returns the new revision, or the one in force where nothing changes
   * @throws DomainError `governance.invalid`, `governance.stale_revision`
   */
  async publish(actor: Actor, base: Revision, proposal: Proposal): Promise<Revision> {
    refuseProblems(commentProblems(proposal.comment));
    if (isUnchanged(base, proposal)) return base;
    return await this.dependencies.db.write((tx) => {
      const newest = store.newestId(tx, actor.organizationId);
      if (newest !== base.id) throw this.#stale(this.#newest(tx, actor.organizationId), base.id);
      return this.add(tx, actor, { ...proposal, base, origin: originOf(actor) });
    }, "governance");
  }

  /** Adds the revision and its audit entry; the caller has compared what it is based on in this transaction. */
  add(tx: Tx, actor: Actor, next: Proposal & { base: Revision | undefined; origin: Origin }): Revision {
    const { clock, ids, audit } = this.dependencies;
    const { base, document, audiences, origin, comment, action } = next;
    const id = ids.uuid();
    const revision = store.insertRevision(tx, {
      id,
      organizationId: actor.organizationId,
      document: { ...document, revision: id },
      audiences,
      origin,
      authorId: actor.id,
      authorLabel: actor.label,
      comment: comment?.trim() || null,
      createdAtMs: clock.nowMs(),
    });
    this.#settleConflicts(tx, revision);
    const changes = base === undefined ? [] : diffRevisions(base, revision);
    audit.record(tx, {
      actor,
      action,
      target: id,
      ...(base && { before: { revision: base.id } }),
      after: { origin, comment: revision.comment, changed: placesOf(changes) },
    });
    return revision;
  }

  /** A place where the authors have come to agree is no conflict any more, and none again when only one moves on. */
  #settleConflicts(tx: Tx, { organizationId, document }: Revision): void {
    const deployment = store.findDeployment(tx, organizationId);
    if (!deployment || deployment.conflicts.length === 0) return;
    const sides = { current: authored(document), wanted: deployment.baseline };
    const conflicts = standingConflicts(deployment.conflicts, sides);
    if (conflicts.length < deployment.conflicts.length) store.putDeployment(tx, { ...deployment, conflicts });
  }

  #newest(tx: Tx, organizationId: string): Revision {
    const [newest] = store.newestRevisions(tx, organizationId, 1);
    if (!newest) throw noPolicy();
    return newest;
  }

  #stale(current: Revision, baseRevision: string) {
    const base = this.dependencies.revisions.find(current.organizationId, baseRevision);
    return staleRevision(current.id, base ? diffRevisions(base, current) : []);
  }
}

/**
 * @returns whether publishing would say what is said already. What stamping puts in does not count: it follows from the
 *   rest, and from the version of this program
 */
const isUnchanged = (base: Revision, { document, audiences }: Proposal): boolean =>
  isSameDocument(base.document, document) && isSame(base.audiences, audiences);

/** @returns whether two stamped documents say the same to administrators */
export const isSameDocument = (one: GovernanceConfig, other: GovernanceConfig): boolean =>
  isSame(authored(one), authored(other)) && isSame(one.gateway, other.gateway);

/** @returns what administrators wrote, without what each revision has of its own */
export const authored = (document: GovernanceConfig): GovernanceConfig => ({
  ...unstamped(document),
  revision: "",
});

const originOf = ({ kind }: Actor): Origin => (kind === "operator" ? "operator" : "dashboard");

/** Places only: values may be secrets. */
const placesOf = (changes: readonly Change[]): string[] =>
  changes.slice(0, PATHS_NAMED_MAX).map(({ path }) => path);

function commentProblems(comment: string | undefined): Problem[] {
  if (comment === undefined || [...comment.trim()].length <= COMMENT_LENGTH_MAX) return [];
  return [{ pointer: "/comment", detail: `may have at most ${COMMENT_LENGTH_MAX} characters` }];
}
