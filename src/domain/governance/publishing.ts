// What administrators publish: the policy without its extensions, the extensions, one harness, a former revision.
// Each checks in the order of control-api.md section 5.2 and goes through publisher.ts.
import type { Actor } from "../actor.ts";
import type { Problem } from "../errors.ts";
import { artifactProblems } from "./artifacts.ts";
import { carriedOver, readAudiences } from "./audiences.ts";
import type { GovernanceParts } from "./dependencies.ts";
import { readDraft } from "./document/read.ts";
import { unstamped } from "./document/stamp.ts";
import { readDocumentText } from "./document/text.ts";
import { refuseProblems } from "./errors.ts";
import type { Revision } from "./model.ts";
import { foreignMembers, withExtensions } from "./ownership.ts";
import {
  type ExtensionsPublication,
  extensionsAlone,
  type HarnessPublication,
  inExtensions,
  inHarness,
  type PolicyPublication,
  type Publication,
  readHarnessKey,
  settingsIn,
} from "./publications.ts";

export class Publishing {
  constructor(private readonly parts: GovernanceParts) {}

  /**
   * Replaces all that is not an extension; harnesses left out disappear, but for their MCP servers and overrides.
   * @throws DomainError `governance.no_policy`, `governance.stale_revision`, `governance.invalid`
   */
  async publishPolicy(actor: Actor, publication: PolicyPublication): Promise<Revision> {
    const base = this.parts.publisher.begin(actor, publication.baseRevision);
    const text = readDocumentText(publication.managedYaml);
    const within = (problems: readonly Problem[]) => refuseProblems(text.locate(problems));
    refuseProblems(text.problems);
    const draft = readDraft(text.input);
    within([...foreignMembers(text.input), ...draft.problems]);
    const problems: Problem[] = [];
    const wanted = withExtensions(draft.document, base.document);
    const document = this.#finish(actor, base, { document: wanted, problems });
    within(problems);
    const audiences = carriedOver(base.audiences, document.packages);
    return await this.#publish(actor, base, { document, audiences, comment: publication.comment });
  }

  /**
   * Replaces packages, audiences, overrides and MCP servers; what is left out is gone.
   * @throws DomainError as publishPolicy, with pointers into the publication
   */
  async publishExtensions(actor: Actor, publication: ExtensionsPublication): Promise<Revision> {
    const { organizationId } = actor;
    const { packageOverrides = {}, mcp = {} } = publication;
    const draft = readDraft(extensionsAlone(publication));
    const place = (problems: readonly Problem[]) => problems.map(inExtensions(mcp, packageOverrides));
    const problems = [...draft.problems];
    // The draft lacks packages that cannot be read, so their neighbours would be named by the wrong number.
    if (!problems.some(({ pointer }) => pointer.startsWith("/packages")))
      problems.push(...artifactProblems(this.parts.catalog, organizationId, draft.document));
    if (draft.problems.length === 0)
      this.parts.publisher.finish(draft.document, { gateway: false, problems, base: undefined });
    refuseProblems(place(problems));

    const base = this.parts.publisher.begin(actor, publication.baseRevision);
    const selection = { packages: draft.document.packages, base };
    const { audiences, problems: unfit } = this.#audiencesIn(actor, publication, selection);
    const whole: Problem[] = [];
    const wanted = withExtensions(unstamped(base.document), draft.document);
    const document = this.#finish(actor, base, { document: wanted, problems: whole });
    refuseProblems([...unfit, ...place(whole)]);
    return await this.#publish(actor, base, { document, audiences, comment: publication.comment });
  }

  /**
   * Replaces settings and range of one harness and nothing else.
   * @throws DomainError as publishPolicy, with pointers into the publication
   */
  async publishHarness(actor: Actor, publication: HarnessPublication): Promise<Revision> {
    const { harness, allowUnverifiedVersions = false, comment } = publication;
    const managedConfig = settingsIn(publication.managedConfigYaml);
    const base = this.parts.publisher.begin(actor, publication.baseRevision);
    const key = readHarnessKey(harness);
    const requirement = publication.versionRequirement?.trim();
    const before = unstamped(base.document);
    const { mcp = [], package_overrides = {} } = before.harnesses[key] ?? {};
    const policy = {
      ...(requirement && { version_requirement: requirement }),
      ...(allowUnverifiedVersions && { allow_unverified_versions: true }),
      managed_config: managedConfig,
      mcp,
      package_overrides,
    };
    const draft = readDraft({ ...before, harnesses: { ...before.harnesses, [key]: policy } });
    const place = (problems: readonly Problem[]) => problems.map(inHarness(key));
    refuseProblems(place(draft.problems));
    const problems: Problem[] = [];
    const document = this.#finish(actor, base, { document: draft.document, problems });
    refuseProblems(place(problems));
    return await this.#publish(actor, base, { document, audiences: base.audiences, comment });
  }

  /**
   * Publishes what a former revision said, its audiences included, stamped as of today.
   * @param to id of that revision
   * @throws DomainError `governance.not_found` beside those of publishPolicy
   */
  async rollback(
    actor: Actor,
    { to, baseRevision, comment }: { to: string } & Publication,
  ): Promise<Revision> {
    const target = this.parts.revisions.show(actor.organizationId, to);
    const base = this.parts.publisher.begin(actor, baseRevision);
    const problems: Problem[] = [];
    const gateway = this.parts.publisher.hasGateway(actor, base);
    const document = this.parts.publisher.finishAsIs(unstamped(target.document), { gateway, problems });
    refuseProblems(problems);
    const { audiences } = target;
    return await this.parts.publisher.publish(actor, base, {
      document,
      audiences,
      comment: comment ?? `rollback to ${to}`,
      action: "policy.rollback",
    });
  }

  #finish(
    actor: Actor,
    base: Revision,
    { document, problems }: { document: Revision["document"]; problems: Problem[] },
  ) {
    const { publisher } = this.parts;
    return publisher.finish(document, { gateway: publisher.hasGateway(actor, base), problems, base });
  }

  #publish(
    actor: Actor,
    base: Revision,
    next: Pick<Revision, "document" | "audiences"> & { comment: string | undefined },
  ) {
    return this.parts.publisher.publish(actor, base, { ...next, action: "policy.publish" });
  }

  #audiencesIn(
    { organizationId }: Actor,
    { packageAudiences = {} }: ExtensionsPublication,
    { packages, base }: { packages: Revision["document"]["packages"]; base: Revision },
  ): { audiences: Revision["audiences"]; problems: Problem[] } {
    const { identity, db } = this.parts;
    const problems: Problem[] = [];
    const check = {
      organizationId,
      packages,
      former: base.audiences,
      findUser: (id: string) => identity.findUserById(db.read, id),
    };
    return { audiences: readAudiences(packageAudiences, check, problems), problems };
  }
}
