// Brings a draft up to date and publishes it. A draft can be published only while its base revision is current.
import { isDeepStrictEqual } from "node:util";
import type { Tx } from "../../../platform/database/database.ts";
import type { Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { updateOf } from "../../catalog/service.ts";
import { isActiveAdministrator } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { artifactProblems, artifactReferences } from "../delivery/artifacts.ts";
import { uploadWarningsOf } from "../delivery/upload-address.ts";
import { refuseProblems } from "../errors.ts";
import type { PackageAudiences, Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import type { FinalizeContext } from "../publishing/finalize.ts";
import { parseInTurn, policyText } from "../publishing/validated.ts";
import { type ChangeList, isWithoutChanges } from "../shown/change-list.ts";
import {
  brokenText,
  commentRequired,
  draftChanged,
  noDraft,
  secondAdministratorRequired,
} from "./draft-errors.ts";
import { type Decision, NOTHING_UNDECIDED, type Policy, type Undecided } from "./draft-merge.ts";
import { type Draft, type StatedVersion, type TypedProblem, typedProblems } from "./draft-model.ts";
import * as store from "./draft-store.ts";
import type { Drafts } from "./drafts.ts";
import { Edits } from "./edits.ts";
import type { NewSecrets } from "./new-secrets.ts";

/** The effect of publishing a draft. */
export interface Review {
  /** the base revision of the draft; the current one if the base no longer exists */
  base: Revision;
  current: Revision;
  /** whether there is a newer revision, which must be merged first */
  isStale: boolean;
  /** against `base` */
  changes: ChangeList;
  /** problems that prevent the publication */
  problems: (Problem & Partial<TypedProblem>)[];
  /** reasons why workstations may fail to fetch an archive or upload sessions, and users, including the author, who have left */
  warnings: Problem[];
  /** places that look like a key or a token and are not in the base revision */
  newSecrets: NewSecrets;
  /** why a comment is required; empty if it is not */
  commentReasons: string[];
  /** packages of the draft that the catalog has in another version; publishing does not take these */
  catalogUpdates: CatalogUpdate[];
  /** whether another administrator must publish it */
  needsOther: boolean;
}

export interface CatalogUpdate {
  id: string;
  /** version in the draft */
  from: string;
  /** version in the catalog */
  to: string;
}

export interface DraftPublication extends StatedVersion {
  /** id of the draft */
  draft: string;
  comment?: string | undefined;
}

interface MergeOptions extends StatedVersion {
  isHidden?: boolean;
  decidedOn?: string | undefined;
}

export interface DraftMerge {
  draft: Draft;
  /** the revision that it is merged with */
  current: Revision;
  /** whether the base revision no longer exists, so that every difference must be decided */
  isBaseGone: boolean;
  undecided: Undecided;
  /** decisions by path, without ignored ones */
  decisions: Readonly<Record<string, Decision>>;
}

export interface PublishedRevision {
  revision: Revision;
  isPublished: boolean;
}

export class DraftPublishing {
  readonly #edits: Edits;

  constructor(
    private readonly parts: GovernanceParts,
    private readonly drafts: Drafts,
  ) {
    this.#edits = new Edits(parts);
  }

  /** @param isHidden see changeListOf @throws DomainError `governance.no_policy` */
  async review(actor: Actor, draft: Draft, isHidden = false): Promise<Review> {
    return (await this.#review(actor, draft, isHidden)).review;
  }

  /**
   * Merges newer revisions into the actor's draft. If places are undecided, they are returned and the draft does not change.
   * @param options.isHidden whether the list of undecided places hides secrets
   * @param options.decidedOn id of the revision whose values the author saw when deciding; default: the current one
   * @throws DomainError `policy_draft.none`, `policy_draft.changed`, `policy_draft.broken_text`
   */
  async merge(
    actor: Actor,
    { version, isHidden = false, decidedOn }: MergeOptions,
    decisions: Readonly<Record<string, Decision>>,
  ): Promise<DraftMerge> {
    const draft = this.drafts.existing(actor);
    if (draft.version !== version) throw draftChanged();
    if (typedProblems(draft.typed).length > 0) throw brokenText("a text of the draft");
    const { revisions, runTask } = this.parts;
    const current = revisions.inForce(actor.organizationId);
    if (current.id === draft.baseRevision)
      return { draft, current, isBaseGone: false, undecided: NOTHING_UNDECIDED, decisions };
    const base = revisions.find(actor.organizationId, draft.baseRevision);
    const isBaseGone = base === undefined;
    const seen = decidedOn === undefined ? current : revisions.find(actor.organizationId, decidedOn);
    const texts = {
      base: base && (await policyText(base)),
      current: await policyText(current),
      mine: await policyText(draft),
      decidedOn: seen && seen !== current ? await policyText(seen) : undefined,
    };
    const frame = this.#frame(actor, current);
    const request = { ...texts, decisions: seen ? decisions : {}, isHidden, frame };
    const { merged, ...result } = await runTask("mergeDraft", request);
    if (result.undecided.count > 0) return { draft, current, isBaseGone, ...result };
    const policy: Policy = JSON.parse(merged);
    const content = { ...policy, typed: { harnesses: {} }, baseRevision: current.id };
    return { draft: await this.drafts.replace(actor, draft, content), current, isBaseGone, ...result };
  }

  /**
   * Publishes all parts of the draft as one revision, and removes the draft. A draft without changes stays.
   * @returns the revision that is current afterwards, and whether it is new
   * @throws DomainError `policy_draft.none`, `policy_draft.changed`, `policy_draft.second_administrator`,
   * `policy_draft.comment_required`, `governance.stale_revision`, `governance.invalid`
   */
  async publish(actor: Actor, { draft: id, version, comment }: DraftPublication): Promise<PublishedRevision> {
    const draft = this.drafts.show(actor, id);
    if (draft.version !== version) throw draftChanged();
    const base = await this.parts.publisher.begin(actor, draft.baseRevision);
    const { review, document } = await this.#review(actor, draft, false);
    if (review.needsOther) throw secondAdministratorRequired();
    refuseProblems(review.problems);
    if (isWithoutChanges(review.changes)) return { revision: base, isPublished: false };
    if (review.commentReasons.length > 0 && !comment?.trim()) throw commentRequired(review.commentReasons);
    const text = document.text;
    const revision = await this.parts.publisher.publish(actor, base, {
      document: await parseInTurn(text),
      text,
      audiences: draft.audiences,
      comment,
      changed: document.changed,
      action: "policy.publish",
      draft: {
        writtenBy: this.#writerOf(draft, actor),
        remove: (tx) => {
          if (!store.isUnchanged(tx, draft)) throw changedOrEnded(tx, draft);
          store.removeDraft(tx, draft.ownerId);
        },
      },
    });
    return { revision, isPublished: true };
  }

  async #review(
    actor: Actor,
    draft: Draft,
    isHidden: boolean,
  ): Promise<{ review: Review; document: { text: string; changed: string[] } }> {
    const { revisions, runTask, settings } = this.parts;
    const current = revisions.inForce(actor.organizationId);
    const base = revisions.find(actor.organizationId, draft.baseRevision) ?? current;
    const frame = this.#frame(actor, current);
    const texts = { draft: await policyText(draft), base: await policyText(base) };
    const request = { ...texts, frame, isHidden };
    const { validated, changes, sourceWarnings, newSecrets, commentReasons } = await runTask(
      "reviewDraft",
      request,
    );
    const audiences = await this.#audienceProblems(actor, draft, base.audiences);
    const problems = [
      ...typedProblems(draft.typed),
      ...validated.problems,
      ...(await this.#archiveProblems(actor, draft)),
      ...audiences.problems,
    ];
    const uploads = uploadWarningsOf(draft.document, settings.presignUrl());
    const warnings = [...sourceWarnings, ...uploads, ...audiences.left, ...this.#authorWarnings(draft)];
    const isStale = base.id !== current.id || draft.baseRevision !== current.id;
    const needsOther = this.parts.settings.requiresSecondAdministrator() && draft.ownerId === actor.id;
    return {
      review: {
        base,
        current,
        isStale,
        changes,
        problems,
        warnings,
        newSecrets,
        commentReasons,
        needsOther,
        catalogUpdates: this.#catalogUpdates(actor, draft),
      },
      document: { text: validated.document, changed: validated.changed },
    };
  }

  async #archiveProblems({ organizationId }: Actor, { document }: Draft): Promise<Problem[]> {
    const { catalog } = this.parts;
    return await runInTurns(artifactProblems(catalog, organizationId, artifactReferences(document)));
  }

  /** @returns problems of the audiences, and separately named users and groups that have left, which prevent nothing */
  async #audienceProblems(
    actor: Actor,
    { document, audiences }: Draft,
    former: PackageAudiences,
  ): Promise<{ problems: Problem[]; left: Problem[] }> {
    if (isDeepStrictEqual(audiences, former)) return { problems: [], left: [] };
    const packages = document.packages.map(({ id }) => id);
    const stored = Object.entries(audiences).map(([id, audience]) => [id, { group_ids: [], ...audience }]);
    const read = await this.#edits.audiences(
      actor,
      { packages, former },
      { packageAudiences: Object.fromEntries(stored) },
    );
    const isPerson = ({ pointer }: Problem) => /\/(?:user|group)_ids\/\d+$/.test(pointer);
    return {
      problems: read.problems.filter((problem) => !isPerson(problem)),
      left: read.problems.filter(isPerson),
    };
  }

  /** Others can publish the draft of a user who left, until it ends. */
  #authorWarnings({ ownerId }: Draft): Problem[] {
    const author = this.parts.identity.findUserById(this.parts.db.read, ownerId);
    if (author && isActiveAdministrator(author)) return [];
    const name = author?.email ?? "who wrote this draft";
    return [{ pointer: "", detail: `${name} is no longer an active administrator` }];
  }

  #catalogUpdates({ organizationId }: Actor, { document: { packages } }: Draft): CatalogUpdate[] {
    const offered = this.parts.catalog.versions(organizationId);
    return packages.flatMap((managed) => {
      const update = updateOf(managed, offered);
      return update ? [{ id: managed.id, from: managed.version, to: update.version }] : [];
    });
  }

  #frame(actor: Actor, current: Revision): FinalizeContext {
    const { publisher } = this.parts;
    return publisher.frame({ gateway: publisher.hasGateway(actor, current) });
  }

  #writerOf({ ownerId }: Draft, actor: Actor): string | undefined {
    if (ownerId === actor.id) return undefined;
    return this.parts.identity.findUserById(this.parts.db.read, ownerId)?.email;
  }
}

/** Another request may have discarded or published the draft; then there is nothing to reread. */
const changedOrEnded = (tx: Tx, { organizationId, id }: Draft) =>
  store.findDraft(tx, organizationId, id) ? draftChanged() : noDraft();
