// Drafts of the policy: each administrator has one, and saves it part by part without publishing anything. It survives the
// session, the browser and the service. edits.ts applies the input, draft-merge.ts brings a draft up to date, review.ts
// computes the effect of publishing, and draft-publishing.ts publishes.

import { setImmediate } from "node:timers/promises";
import { DAY_MS } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { MemberChanges } from "../../../platform/text/yaml-edit.ts";
import type { Actor } from "../../shared/actor.ts";
import type { AudienceInput } from "../delivery/audiences.ts";
import type { PackageAudience } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import type { McpLists } from "../publishing/mcp-lists.ts";
import { documentText } from "../publishing/validated.ts";
import { draftChanged, draftEnded, draftNotShared, noDraft } from "./draft-errors.ts";
import {
  DRAFT_DAYS_MAX,
  type Draft,
  type DraftContent,
  type HarnessInput,
  type StatedVersion,
} from "./draft-model.ts";
import * as store from "./draft-store.ts";
import { Edits, type ExtensionsInput, type ModelsInput } from "./edits.ts";
import { FIRST, newDraft } from "./new-draft.ts";
import {
  type PackageInput,
  type PackageUse,
  withAudience,
  withoutPackage,
  withPackage,
  withPackageUse,
} from "./package-edits.ts";
import { StoredDrafts } from "./stored-drafts.ts";
import type { TypedSettings } from "./texts/typed-settings.ts";

type NextContent = DraftContent & Partial<Pick<Draft, "baseRevision">>;

export class Drafts {
  readonly #edits: Edits;
  readonly #stored: StoredDrafts;

  constructor(private readonly parts: GovernanceParts) {
    this.#edits = new Edits(parts);
    this.#stored = new StoredDrafts(parts.db);
  }

  /** @returns the draft of the administrator; undefined for none */
  own({ id }: Pick<Actor, "id">): Draft | undefined {
    return id === null ? undefined : this.#stored.own(id);
  }

  /** @returns the draft of the administrator without its content; undefined for none */
  summaryOf({ id }: Pick<Actor, "id">): store.DraftSummary | undefined {
    return id === null ? undefined : this.#stored.summaryOf(id);
  }

  /** @throws DomainError `policy_draft.none` */
  existing(actor: Pick<Actor, "id">): Draft {
    const draft = this.own(actor);
    if (draft) return draft;
    throw noDraft();
  }

  /** @returns the version of the actor's draft; 0 if there is none */
  versionOf(actor: Pick<Actor, "id">): number {
    return this.summaryOf(actor)?.version ?? 0;
  }

  /** @returns the version that the actor's draft will have after the next save */
  nextVersionOf(actor: Actor): number {
    return store.nextVersion(this.parts.db.read, { ...actor, version: this.versionOf(actor) });
  }

  /** @returns the actor's draft, or a new one that starts from the current revision @throws DomainError `governance.no_policy` */
  ownOrNew(actor: Actor): Draft {
    return this.own(actor) ?? newDraft(this.parts, actor, this.parts.revisions.inForce(actor.organizationId));
  }

  /** Like ownOrNew, for reading: before the first revision, the draft has the content of a new installation. */
  ownOrFirst(actor: Actor): Draft {
    const { revisions } = this.parts;
    return this.own(actor) ?? newDraft(this.parts, actor, revisions.current(actor.organizationId) ?? FIRST);
  }

  /** @returns the drafts of all administrators without their content, oldest save first */
  list(organizationId: string): store.DraftSummary[] {
    return store.listDrafts(this.parts.db.read, organizationId);
  }

  /**
   * @param reference id of a draft or of its owner; the actor may read the own draft and shared ones, the operator all
   * @throws DomainError `policy_draft.none`, `policy_draft.not_shared`
   */
  show(actor: Actor, reference: string): Draft {
    const draft = this.#stored.find(actor.organizationId, reference);
    if (draft && (draft.isShared || draft.ownerId === actor.id || actor.kind === "operator")) return draft;
    throw draft ? draftNotShared() : noDraft();
  }

  /** @returns the policy without extensions as YAML: the typed text, or else a text with the draft's base as its revision */
  async textOf({ typed, baseRevision, ...draft }: Draft): Promise<string> {
    if (typed.policy) return typed.policy.input;
    const document = { ...draft.document, revision: baseRevision };
    return await this.parts.runTask("managedText", { document: await documentText({ document }) });
  }

  /** Reads the settings in a harness's text after changes by name, where undefined removes one; saves nothing. */
  typedSettings(text: string, changes: MemberChanges): Promise<TypedSettings> {
    return this.parts.runTask("typedSettings", { text, changes });
  }

  /**
   * A new draft begins from the revision that the text names, if it exists, so that an old text reverts nothing.
   * @throws DomainError `policy_draft.changed`, `governance.no_policy`
   */
  async savePolicy(actor: Actor, stated: StatedVersion, text: string): Promise<Draft> {
    const from = await this.#edits.withBase(actor, stated, text);
    return await this.#edit(actor, from, (content) => this.#edits.policy(actor, content, text));
  }

  /** @throws DomainError as savePolicy; `governance.unknown_harness`, `policy_draft.broken_text` */
  saveHarness(actor: Actor, stated: StatedVersion, harness: string, input: HarnessInput): Promise<Draft> {
    return this.#edit(actor, stated, (content) => this.#edits.harness(actor, content, harness, input));
  }

  /** @throws DomainError as savePolicy; `governance.invalid` */
  saveExtensions(actor: Actor, stated: StatedVersion, input: ExtensionsInput): Promise<Draft> {
    return this.#edit(actor, stated, (content) => this.#edits.extensions(actor, content, input));
  }

  /** Replaces the MCP servers of some harnesses. @throws as saveExtensions */
  saveMcp(actor: Actor, stated: StatedVersion, lists: McpLists): Promise<Draft> {
    return this.#edit(actor, stated, (content) => this.#edits.mcp(actor, content, lists));
  }

  /** Adds a package, or replaces the package with its id, whose audience and overrides stay. @throws like saveExtensions */
  takePackage(actor: Actor, stated: StatedVersion, managed: PackageInput): Promise<Draft> {
    return this.#edit(actor, stated, (content) =>
      this.#edits.extensions(actor, content, withPackage(content, managed)),
    );
  }

  /** Like takePackage, and sets the audience. @throws DomainError as saveExtensions */
  addPackage(
    actor: Actor,
    stated: StatedVersion,
    managed: PackageInput,
    audience: AudienceInput,
  ): Promise<Draft> {
    return this.#edit(actor, stated, (content) => {
      const taken = withPackage(content, managed);
      const packageAudiences = { ...taken.packageAudiences, [managed.id]: audience };
      return this.#edits.extensions(actor, content, { ...taken, packageAudiences });
    });
  }

  /**
   * @param id id of a package that the draft may lack
   * @returns the audience of the package, in the form of the draft
   * @throws DomainError `governance.invalid` with pointers below `/package_audiences`
   */
  checkAudience(actor: Actor, id: string, audience: AudienceInput): Promise<PackageAudience> {
    return this.#edits.audience(actor, { id, audience, former: this.ownOrNew(actor).audiences });
  }

  /** Removes a package with its audience and its overrides. @throws DomainError as saveExtensions; `policy_draft.no_package` */
  removePackage(actor: Actor, stated: StatedVersion, id: string): Promise<Draft> {
    return this.#edit(actor, stated, async (content) =>
      this.#edits.extensions(actor, content, withoutPackage(content, id)),
    );
  }

  /** Sets the audience of a package. @throws DomainError as saveExtensions; `policy_draft.no_package` */
  audience(actor: Actor, stated: StatedVersion, id: string, audience: AudienceInput): Promise<Draft> {
    return this.#edit(actor, stated, async (content) =>
      this.#edits.extensions(actor, content, withAudience(content, id, audience)),
    );
  }

  /** @param text YAML or JSON; blank for none @returns the settings of one harness, and problems with lines */
  readSettings(text: string): Promise<{ settings: PackageUse["settings"]; problems: readonly Problem[] }> {
    return this.parts.runTask("settings", text);
  }

  /** Sets how a harness uses a package. @throws DomainError as saveExtensions; `policy_draft.no_package` */
  use(actor: Actor, stated: StatedVersion, id: string, use: PackageUse): Promise<Draft> {
    return this.#edit(actor, stated, async (content) =>
      this.#edits.extensions(actor, content, withPackageUse(content, id, use)),
    );
  }

  /** Replaces the models of one harness. @throws DomainError as saveHarness; `policy_draft.not_written`, `governance.invalid` */
  saveModels(actor: Actor, stated: StatedVersion, input: ModelsInput): Promise<Draft> {
    return this.#edit(actor, stated, (content) => this.#edits.models(actor, content, input));
  }

  /** Takes the deployment file's values at those places. @throws DomainError as saveHarness; `policy_conflict.none` */
  takeFileValues(actor: Actor, stated: StatedVersion, paths: readonly string[]): Promise<Draft> {
    return this.#edit(actor, stated, (content) => this.#edits.fileValues(actor, content, paths));
  }

  /**
   * Replaces the draft with the content of a former revision, including its audiences.
   * @throws DomainError as savePolicy; `governance.not_found`
   */
  async saveFormer(actor: Actor, stated: StatedVersion, revision: string): Promise<Draft> {
    const { revisions } = this.parts;
    const target = revisions.show(actor.organizationId, revision);
    const base = revisions.inForce(actor.organizationId);
    const former = () => this.#edits.former(actor, base, target);
    return await this.#edit(actor, stated, async () => ({ ...(await former()), baseRevision: base.id }));
  }

  /** Replaces the content of a draft that was read before. @throws DomainError `policy_draft.changed` */
  async replace(actor: Actor, draft: Draft, content: NextContent): Promise<Draft> {
    const changed = { ...draft, ...content };
    return await this.#save({ ...changed, changes: await this.#edits.countChanges(changed) }, (tx) => {
      if (draft.version > 0) return;
      this.parts.audit.record(tx, { actor, action: "policy_draft.create", target: draft.id });
    });
  }

  /**
   * Shares the actor's draft with other administrators, who may then read and publish it, or ends sharing.
   * @throws DomainError `policy_draft.none`, `policy_draft.changed`
   */
  async share(actor: Actor, { version }: StatedVersion, isShared: boolean): Promise<Draft> {
    const draft = this.existing(actor);
    if (draft.version !== version) throw draftChanged();
    return await this.#save({ ...draft, isShared }, (tx) => {
      const action = isShared ? "policy_draft.share" : "policy_draft.unshare";
      this.parts.audit.record(tx, { actor, action, target: draft.id });
    });
  }

  /** @param stated the version that the actor has read; default: any @throws DomainError like show; `policy_draft.changed` */
  async discard(actor: Actor, reference: string, stated?: StatedVersion): Promise<void> {
    const { id, ownerId, organizationId } = this.show(actor, reference);
    if (ownerId !== actor.id && actor.kind !== "operator") throw noDraft();
    await this.parts.db.write((tx) => {
      const { version } = store.findDraft(tx, organizationId, id) ?? {};
      if (stated && version !== stated.version) throw draftChanged();
      if (!store.removeDraft(tx, id)) throw noDraft();
      this.parts.audit.record(tx, { actor, action: "policy_draft.discard", target: id });
    }, "unobserved");
  }

  /** Removes drafts not saved for DRAFT_DAYS_MAX. @returns how many */
  async expire(actor: Actor): Promise<number> {
    const { audit, clock, db } = this.parts;
    const beforeMs = clock.nowMs() - DRAFT_DAYS_MAX * DAY_MS;
    return await db.write((tx) => {
      const removed = store.removeUntouched(tx, beforeMs);
      for (const { id } of removed) audit.record(tx, { actor, action: "policy_draft.expire", target: id });
      return removed.length;
    }, "unobserved");
  }

  /**
   * @returns a new draft based on the revision that its author has read, without later changes
   * @throws DomainError `policy_draft.changed` if a restore has removed that revision
   */
  #begun(actor: Actor, baseRevision: string | undefined): Draft {
    const { revisions } = this.parts;
    const current = revisions.inForce(actor.organizationId);
    const base = revisions.find(actor.organizationId, baseRevision ?? current.id);
    if (!base) throw draftEnded();
    return newDraft(this.parts, actor, base);
  }

  async #edit(
    actor: Actor,
    { version, baseRevision }: StatedVersion,
    change: (content: Draft) => Promise<NextContent>,
  ): Promise<Draft> {
    const own = this.own(actor);
    if (!own && version > 0) throw draftEnded();
    const draft = own ?? this.#begun(actor, baseRevision);
    if (draft.version !== version) throw draftChanged();
    return await this.replace(actor, draft, await change(await setImmediate(draft)));
  }

  async #save(draft: Draft, record: (tx: Tx) => void): Promise<Draft> {
    const texts = await store.draftTexts(draft);
    const savedAtMs = this.parts.clock.nowMs();
    const saved = await this.parts.db.write((tx) => {
      if (!store.isUnchanged(tx, draft))
        throw store.findOwn(tx, draft.ownerId) ? draftChanged() : draftEnded();
      record(tx);
      return store.putDraft(tx, { ...draft, savedAtMs, version: store.nextVersion(tx, draft) }, texts);
    }, "unobserved");
    return this.#stored.keep(saved);
  }
}
