// Applies an administrator's input to the content of a draft. Each part is checked like a publication, but against the document
// of the draft instead of the current revision.
import { invariant, type Problem } from "../../../platform/errors.ts";
import { isJsonObject, ownMember } from "../../../platform/json/json-object.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { NOT_UNICODE } from "../../../platform/text/object-reader.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import type { Actor } from "../../shared/actor.ts";
import { type ArtifactReference, artifactProblems, artifactReferences } from "../delivery/artifacts.ts";
import { type AudienceInput, readAudiences } from "../delivery/audiences.ts";
import { deploymentWith } from "../deployment/file-conflicts.ts";
import { refuseProblems } from "../errors.ts";
import type { PackageAudience, PackageAudiences, Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import type { FinalizeContext } from "../publishing/finalize.ts";
import type { McpLists } from "../publishing/mcp-lists.ts";
import type { ModelsPublication } from "../publishing/model-assignment.ts";
import { type ExtensionsPublication, readHarnessKey } from "../publishing/publications.ts";
import { documentText, parseInTurn, policyText, type Validated } from "../publishing/validated.ts";
import * as store from "../store.ts";
import { brokenText, notWritten, USED_ELSEWHERE } from "./draft-errors.ts";
import {
  brokenTexts,
  type Draft,
  type DraftContent,
  type HarnessInput,
  isBroken,
  type StatedVersion,
  type Typed,
} from "./draft-model.ts";
import { withDocument, withHarness, withoutFormer } from "./texts/changed-content.ts";

/** Packages, audiences, overrides and MCP servers; omitted ones are removed. */
export type ExtensionsInput = Omit<ExtensionsPublication, "baseRevision" | "comment">;

/** The models that a harness may use. */
export type ModelsInput = Omit<ModelsPublication, "baseRevision" | "comment">;

/** A text with half a surrogate pair cannot be kept as typed, because UTF-8 cannot represent it. */
const unicodeProblems = (text: string, pointer: string): readonly Problem[] =>
  text.isWellFormed() ? [] : [{ pointer, detail: NOT_UNICODE }];

/** Also matches in a text that cannot be read; a wrong match names no revision. */
const REVISION_LINE = /^[\s{]*"?revision"?[ \t]*:[ \t]*["']?([\w-]+)/m;

export class Edits {
  constructor(private readonly parts: GovernanceParts) {}

  /**
   * Replaces everything except extensions, including the texts of harnesses. Keeps an invalid text, but not in the document.
   * @throws DomainError `policy_draft.broken_text` if a harness has a text with problems; `governance.invalid` for half a surrogate pair
   */
  async policy(actor: Actor, content: DraftContent, text: string): Promise<DraftContent> {
    refuseProblems(unicodeProblems(text, ""));
    const [harness] = brokenTexts({ harnesses: content.typed.harnesses });
    if (harness) throw brokenText(`the text of ${harness}`);
    return await this.#withPolicy(actor, content, text);
  }

  async #withPolicy(actor: Actor, content: DraftContent, text: string): Promise<DraftContent> {
    const { problems, document } = await this.#validatePolicy(content, text, this.#editing(actor));
    const policy = { input: text, problems };
    if (problems.length > 0) return { ...content, typed: { ...content.typed, policy } };
    const kept = Object.entries(content.typed.harnesses).filter(([, typed]) => isBroken(typed));
    return {
      ...(await withDocument(content, document)),
      typed: { policy, harnesses: Object.fromEntries(kept) },
    };
  }

  /**
   * A text may have problems only because of another part of the draft. After a change, each text with problems is checked
   * again, and applied if it has none anymore.
   */
  async #checkedAgain(actor: Actor, content: DraftContent): Promise<DraftContent> {
    const broken = brokenTexts(content.typed);
    if (broken.length === 0) return content;
    let next = content;
    const { policy } = next.typed;
    if (policy && isBroken(policy)) next = await this.#withPolicy(actor, next, policy.input);
    for (const harness of HARNESS_KEYS) {
      const typed = next.typed.harnesses[harness];
      if (typed && isBroken(typed)) next = await this.#withHarness(actor, next, harness, typed.input);
    }
    // Applying a text may solve the problems of an earlier one.
    return brokenTexts(next.typed).length < broken.length ? await this.#checkedAgain(actor, next) : next;
  }

  /** @returns the stated versions; for a new draft, with the revision that a text for `policy` names as its base */
  async withBase({ organizationId }: Actor, stated: StatedVersion, text: string): Promise<StatedVersion> {
    if (stated.version !== 0) return stated;
    const { values } = await this.parts.runTask("typedSettings", { text, changes: {} });
    const { revision: read } = isJsonObject(values?.governance) ? values.governance : (values ?? {});
    const id = values ? read : REVISION_LINE.exec(text)?.[1];
    const named = typeof id === "string" ? this.parts.revisions.find(organizationId, id) : undefined;
    return named ? { ...stated, baseRevision: named.id } : stated;
  }

  /** @returns every problem of a text for `policy`, with lines */
  async policyProblems(actor: Actor, content: DraftContent, text: string): Promise<readonly Problem[]> {
    const problems = unicodeProblems(text, "");
    return problems.length > 0
      ? problems
      : (await this.#validatePolicy(content, text, this.#frame(actor))).problems;
  }

  /** @returns every problem of the settings of a harness, with lines; the draft supplies the other members @throws like harness */
  async settingsProblems(
    actor: Actor,
    content: DraftContent,
    name: string,
    text: string,
  ): Promise<readonly Problem[]> {
    const harness = readHarnessKey(name);
    const problems = unicodeProblems(text, "/managed_config_yaml");
    if (problems.length > 0) return problems;
    const { version_requirement: versionRequirement, allow_unverified_versions: allowUnverifiedVersions } =
      content.document.harnesses[harness] ?? {};
    const publication = { managedConfigYaml: text, versionRequirement, allowUnverifiedVersions };
    return (await this.#validateHarness(content, { harness, publication, frame: this.#frame(actor) }))
      .problems;
  }

  async #validatePolicy(content: DraftContent, text: string, frame: FinalizeContext): Promise<Validated> {
    return await this.parts.runTask("policy", { text, base: await documentText(content), frame });
  }

  /**
   * Replaces the settings and the range of one harness, and whether it is allowed. Invalid settings are kept as typed.
   * @throws DomainError `governance.unknown_harness`, `policy_draft.broken_text`, `governance.invalid` for half a surrogate pair
   */
  async harness(
    actor: Actor,
    content: DraftContent,
    name: string,
    input: HarnessInput,
  ): Promise<DraftContent> {
    const harness = readHarnessKey(name);
    refuseProblems(unicodeProblems(input.managedConfigYaml, "/managed_config_yaml"));
    if (isBroken(content.typed.policy)) throw brokenText("the text of the policy");
    return await this.#checkedAgain(actor, await this.#withHarness(actor, content, harness, input));
  }

  async #withHarness(
    actor: Actor,
    content: DraftContent,
    harness: HarnessKey,
    input: HarnessInput,
  ): Promise<DraftContent> {
    const request = { harness, publication: input, frame: this.#editing(actor) };
    const { problems, document } = await this.#validateHarness(content, request);
    const typed = withHarness(content.typed, harness, { input, problems });
    return problems.length > 0 || document === undefined
      ? { ...content, typed }
      : { ...(await withDocument(content, document)), typed };
  }

  async #validateHarness(
    content: DraftContent,
    request: { harness: HarnessKey; publication: HarnessInput; frame: FinalizeContext },
  ): Promise<{ problems: readonly Problem[]; document: string | undefined }> {
    const base = await documentText(content);
    const { unread, whole } = await this.parts.runTask("harness", { ...request, base });
    return { problems: [...unread, ...(whole?.problems ?? [])], document: whole?.document };
  }

  /** @throws DomainError `governance.invalid`, with pointers into the input; the content stays */
  async extensions(actor: Actor, content: DraftContent, input: ExtensionsInput): Promise<DraftContent> {
    const { catalog, runTask } = this.parts;
    const { packages, packageOverrides, mcp } = input;
    const extensions = JSON.stringify({ packages, packageOverrides, mcp });
    const base = await documentText(content);
    const checked = await runTask("extensions", { extensions, base, frame: this.#editing(actor) });
    const known = new Set(artifactReferences(content.document).map(nameOf));
    const references = checked.references.filter((reference) => !known.has(nameOf(reference)));
    const archives = await runInTurns(artifactProblems(catalog, actor.organizationId, references));
    const request = { packages: checked.packages, former: content.audiences };
    const read = await this.audiences(actor, request, input);
    const own = [...checked.before, ...archives, ...checked.after, ...read.problems];
    refuseProblems([...own, ...(checked.whole?.problems ?? [])]);
    invariant(checked.whole, "valid extensions were checked against the document of the draft");
    const document = await parseInTurn(checked.whole.document);
    const typed = withoutFormer(content.typed);
    return await this.#checkedAgain(actor, { ...content, document, audiences: read.audiences, typed });
  }

  /**
   * Replaces the MCP servers of some harnesses.
   * @throws DomainError `governance.invalid`, with pointers into `mcp`; the content stays
   */
  async mcp(actor: Actor, content: DraftContent, lists: McpLists): Promise<DraftContent> {
    const base = await documentText(content);
    const request = { lists: JSON.stringify(lists), base, frame: this.#editing(actor) };
    const { problems, document } = await this.parts.runTask("mcp", request);
    refuseProblems(problems);
    return await this.#checkedAgain(actor, await withDocument(content, document));
  }

  /**
   * Replaces the models of one harness, and the model that it starts with.
   * @throws DomainError `governance.unknown_harness`, `policy_draft.broken_text`, `policy_draft.not_written`, `governance.invalid`
   */
  async models(actor: Actor, content: DraftContent, input: ModelsInput): Promise<DraftContent> {
    const harness = readHarnessKey(input.harness);
    const { policy, harnesses } = content.typed;
    if (isBroken(policy)) throw brokenText("the text of the policy");
    if (isBroken(harnesses[harness])) throw brokenText(`the text of ${harness}`);
    const request = { harness, assignment: input, base: await documentText(content) };
    const { unread, whole } = await this.parts.runTask("models", { ...request, frame: this.#editing(actor) });
    refuseProblems([...unread, ...(whole?.problems ?? [])]);
    invariant(whole, "valid models were checked against the document of the draft");
    const typed = harnesses[harness] && (await this.#withModel(harnesses[harness], input.defaultModel));
    return await this.#checkedAgain(actor, {
      ...(await withDocument(content, whole.document)),
      typed: typed ? withHarness(content.typed, harness, typed) : { harnesses },
    });
  }

  /** @returns the typed text with that model */
  async #withModel(
    { input }: Typed<HarnessInput>,
    model: ModelsInput["defaultModel"],
  ): Promise<Typed<HarnessInput>> {
    const changes = model === undefined ? {} : { model: model ?? undefined };
    const request = { text: input.managedConfigYaml, changes };
    const { text } = await this.parts.runTask("typedSettings", request);
    if (text === undefined) throw notWritten(USED_ELSEWHERE);
    return { input: { ...input, managedConfigYaml: text }, problems: [] };
  }

  /** @returns the restricted audiences, and the problems of all */
  async audiences(
    { organizationId }: Actor,
    { packages, former }: { packages: readonly string[]; former: PackageAudiences },
    { packageAudiences = {} }: Pick<ExtensionsInput, "packageAudiences">,
  ): Promise<{ audiences: PackageAudiences; problems: Problem[] }> {
    const { identity, db, userGroups } = this.parts;
    const problems: Problem[] = [];
    const findUser = (id: string) => identity.findUserById(db.read, id);
    const check = { organizationId, packages, former, findUser, hasGroup: userGroups.has };
    return { audiences: await runInTurns(readAudiences(packageAudiences, check, problems)), problems };
  }

  /** @returns the audience of one package @throws DomainError `governance.invalid` */
  async audience(
    actor: Actor,
    { id, audience, former }: { id: string; audience: AudienceInput; former: PackageAudiences },
  ): Promise<PackageAudience> {
    const sent = { packageAudiences: { [id]: audience } };
    const { audiences, problems } = await this.audiences(actor, { packages: [id], former }, sent);
    refuseProblems(problems);
    return ownMember(audiences, id) ?? { scope: "organization", user_ids: [] };
  }

  /** @returns the content of that revision, with current stamps @throws DomainError `governance.invalid` */
  async former(actor: Actor, base: Revision, target: Revision): Promise<DraftContent> {
    const [former, current] = [await documentText(target), await documentText(base)];
    const frame = this.#frame(actor);
    const { problems, document } = await this.parts.runTask("former", { former, base: current, frame });
    refuseProblems(problems);
    const typed = { harnesses: {}, former: target.sequence };
    return { document: await parseInTurn(document), audiences: target.audiences, typed };
  }

  /**
   * Takes the deployment file's values where the policy differs from it.
   * @throws DomainError `policy_conflict.none`, `policy_draft.broken_text`, `governance.invalid` for a document that is too large
   */
  async fileValues(actor: Actor, content: DraftContent, paths: readonly string[]): Promise<DraftContent> {
    if (brokenTexts(content.typed).length > 0) throw brokenText("a text of the draft");
    const { db, runTask } = this.parts;
    const { baseline: file } = deploymentWith(store.findDeployment(db.read, actor.organizationId), paths);
    const base = await documentText(content);
    const request = { base, file, paths, frame: this.#editing(actor) };
    const { problems, document } = await runTask("takeFileValues", request);
    refuseProblems(problems);
    return { ...(await withDocument(content, document)), typed: { harnesses: {} } };
  }

  /** @returns the number of places that the review lists */
  async countChanges(draft: Draft): Promise<number> {
    const { revisions, runTask } = this.parts;
    const { organizationId, baseRevision } = draft;
    const base = revisions.find(organizationId, baseRevision) ?? revisions.inForce(organizationId);
    const sides = { before: await policyText(base), after: await policyText(draft) };
    return (await runTask("difference", sides)).count;
  }

  #frame(actor: Actor): FinalizeContext {
    const { publisher, revisions } = this.parts;
    return publisher.frame({ gateway: publisher.hasGateway(actor, revisions.current(actor.organizationId)) });
  }

  #editing(actor: Actor): FinalizeContext {
    return { ...this.#frame(actor), isEdit: true };
  }
}

const nameOf = ({ id, sha256 }: ArtifactReference): string => `${id} ${sha256}`;
