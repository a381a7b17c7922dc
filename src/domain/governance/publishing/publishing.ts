// The publications of administrators: the policy without extensions, the extensions, one harness, its models, a former revision. Each uses
// publisher.ts. Clients rely on the order of the checks: see publishing.test.ts.

import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { invariant, type Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { isHarnessKey } from "../../harnesses/harnesses.ts";
import type { Actor } from "../../shared/actor.ts";
import { artifactProblems } from "../delivery/artifacts.ts";
import { carryOverAudiences, readAudiences } from "../delivery/audiences.ts";
import { refuseProblems } from "../errors.ts";
import type { GovernanceConfig, PackageAudiences, Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import { type Change, diffDocuments } from "./diff.ts";
import type { FinalizeContext } from "./finalize.ts";
import type { ModelsPublication } from "./model-assignment.ts";
import {
  type ExtensionsPublication,
  type HarnessPublication,
  type PolicyPublication,
  type Publication,
  readHarnessKey,
} from "./publications.ts";
import { documentText, parseInTurn, type Validated } from "./validated.ts";

/** The result of a checked document. */
interface Outcome {
  comment: string | undefined;
  action: string;
  audiencesFor(document: GovernanceConfig): PackageAudiences;
}

export class Publishing {
  constructor(private readonly parts: GovernanceParts) {}

  /**
   * Replaces everything except extensions. Omitted harnesses disappear, except for their MCP servers and overrides.
   * @throws DomainError `governance.no_policy`, `governance.stale_revision`, `governance.invalid`, `governance.too_slow`
   */
  async publishPolicy(actor: Actor, publication: PolicyPublication): Promise<Revision> {
    const base = await this.parts.publisher.begin(actor, publication.baseRevision);
    const request = { text: publication.managedYaml, ...(await this.#onBase(actor, base)) };
    const validated = await this.parts.runTask("policy", request);
    return await this.#publish(actor, base, { validated, ...carryingOver(base, publication) });
  }

  /**
   * Replaces packages, audiences, overrides and MCP servers; omitted ones are removed.
   * @throws DomainError as publishPolicy, with pointers into the publication
   */
  async publishExtensions(actor: Actor, publication: ExtensionsPublication): Promise<Revision> {
    const { catalog, publisher, revisions, runTask } = this.parts;
    const current = revisions.current(actor.organizationId);
    const isCurrent = current?.id === publication.baseRevision;
    const { packages, packageOverrides, mcp } = publication;
    await setImmediate();
    const extensions = JSON.stringify({ packages, packageOverrides, mcp });
    const base = isCurrent ? await documentText(current) : undefined;
    const validated = await runTask("extensions", { extensions, base, frame: this.#frame(actor, current) });
    const archives = artifactProblems(catalog, actor.organizationId, validated.references);
    refuseProblems([...validated.before, ...(await runInTurns(archives)), ...validated.after]);

    const begun = await publisher.begin(actor, publication.baseRevision);
    const read = await this.#readAudiences(actor, publication, { packages: validated.packages, base: begun });
    refuseProblems([...read.problems, ...(validated.whole?.problems ?? [])]);
    return await this.#publish(actor, begun, {
      validated: validated.whole,
      comment: publication.comment,
      action: "policy.publish",
      audiencesFor: () => read.audiences,
    });
  }

  /**
   * Replaces only the settings and the range of one harness.
   * @throws DomainError as publishPolicy, with pointers into the publication
   */
  async publishHarness(actor: Actor, publication: HarnessPublication): Promise<Revision> {
    const { harness, managedConfigYaml, versionRequirement, allowUnverifiedVersions } = publication;
    const current = this.parts.revisions.current(actor.organizationId);
    const base = current?.id === publication.baseRevision ? await documentText(current) : undefined;
    const { unread, whole } = await this.parts.runTask("harness", {
      harness: isHarnessKey(harness) ? harness : undefined,
      publication: { managedConfigYaml, versionRequirement, allowUnverifiedVersions },
      base,
      frame: this.#frame(actor, current),
    });
    refuseProblems(unread);
    const begun = await this.parts.publisher.begin(actor, publication.baseRevision);
    readHarnessKey(harness);
    return await this.#publish(actor, begun, { validated: whole, ...keeping(begun, publication) });
  }

  /**
   * Replaces only the models of one harness and the one it starts with.
   * @throws DomainError as publishPolicy, with pointers into the publication; `governance.unknown_harness`
   */
  async publishModels(actor: Actor, publication: ModelsPublication): Promise<Revision> {
    const { begun, whole } = await this.#validateModels(actor, publication);
    return await this.#publish(actor, begun, { validated: whole, ...keeping(begun, publication) });
  }

  /** @returns the changes that `publishModels` would make to its base revision @throws like publishModels */
  async planModels(actor: Actor, publication: ModelsPublication): Promise<Change[]> {
    const { begun, whole } = await this.#validateModels(actor, publication);
    invariant(whole, "a publication without problems was checked against its base revision");
    refuseProblems(whole.problems);
    return whole.isUnchanged ? [] : diffDocuments(begun.document, JSON.parse(whole.document));
  }

  async #validateModels(
    actor: Actor,
    publication: ModelsPublication,
  ): Promise<{ begun: Revision; whole: Validated | undefined }> {
    const { harness, gatewayModels, defaultModel } = publication;
    const current = this.parts.revisions.current(actor.organizationId);
    const base = current?.id === publication.baseRevision ? await documentText(current) : undefined;
    const { unread, whole } = await this.parts.runTask("models", {
      harness: isHarnessKey(harness) ? harness : undefined,
      assignment: { gatewayModels, defaultModel },
      base,
      frame: this.#frame(actor, current),
    });
    refuseProblems(unread);
    const begun = await this.parts.publisher.begin(actor, publication.baseRevision);
    readHarnessKey(harness);
    return { begun, whole };
  }

  /**
   * Publishes a former revision again, with its audiences and current stamps.
   * @param to id of that revision
   * @throws DomainError `governance.not_found`, and those of publishPolicy
   */
  async rollback(
    actor: Actor,
    { to, baseRevision, comment }: { to: string } & Publication,
  ): Promise<Revision> {
    const { revisions, publisher, runTask } = this.parts;
    const target = revisions.show(actor.organizationId, to);
    const base = await publisher.begin(actor, baseRevision);
    const former = await documentText(target);
    const validated = await runTask("former", { former, ...(await this.#onBase(actor, base)) });
    return await this.#publish(actor, base, {
      validated,
      comment: comment ?? `rollback to ${to}`,
      action: "policy.rollback",
      audiencesFor: () => target.audiences,
    });
  }

  #frame(actor: Actor, base: Revision | undefined): FinalizeContext {
    const { publisher } = this.parts;
    return publisher.frame({ gateway: publisher.hasGateway(actor, base) });
  }

  async #onBase(actor: Actor, base: Revision) {
    return { base: await documentText(base), frame: this.#frame(actor, base) };
  }

  async #publish(
    actor: Actor,
    base: Revision,
    { validated, audiencesFor, comment, action }: Outcome & { validated: Validated | undefined },
  ): Promise<Revision> {
    const { publisher } = this.parts;
    invariant(validated, "a publication without problems was checked against its base revision");
    refuseProblems(validated.problems);
    const document = await parseInTurn(validated.document);
    const audiences = audiencesFor(document);
    if (validated.isUnchanged && isDeepStrictEqual(base.audiences, audiences))
      return publisher.unchanged(base, { comment });
    return await publisher.publish(actor, base, {
      document,
      text: validated.document,
      audiences,
      comment,
      action,
      changed: validated.changed,
    });
  }

  async #readAudiences(
    { organizationId }: Actor,
    { packageAudiences = {} }: ExtensionsPublication,
    { packages, base }: { packages: readonly string[]; base: Revision },
  ): Promise<{ audiences: PackageAudiences; problems: Problem[] }> {
    const { identity, db, userGroups } = this.parts;
    const problems: Problem[] = [];
    const check = {
      organizationId,
      packages,
      former: base.audiences,
      findUser: (id: string) => identity.findUserById(db.read, id),
      hasGroup: userGroups.has,
    };
    return { audiences: await runInTurns(readAudiences(packageAudiences, check, problems)), problems };
  }
}

const carryingOver = (base: Revision, { comment }: Publication): Outcome => ({
  comment,
  action: "policy.publish",
  audiencesFor: ({ packages }) => carryOverAudiences(base.audiences, packages),
});

const keeping = (base: Revision, { comment }: Publication): Outcome => ({
  comment,
  action: "policy.publish",
  audiencesFor: () => base.audiences,
});
