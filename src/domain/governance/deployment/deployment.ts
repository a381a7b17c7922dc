// The deployment file as a second author. At every start, and when the operator reloads the file, its section `governance` is
// merged with the current policy in one transaction. In a conflict the dashboard wins, and the conflict is stored and shown
// until both agree.
import { setImmediate } from "node:timers/promises";
import type { Tx } from "../../../platform/database/database.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import { type ArtifactReference, artifactProblems } from "../delivery/artifacts.ts";
import { carryOverAudiences } from "../delivery/audiences.ts";
import { uploadWarningsOf } from "../delivery/upload-address.ts";
import { refuseProblems } from "../errors.ts";
import type { Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import type { FinalizeContext } from "../publishing/finalize.ts";
import { documentText, parseInTurn } from "../publishing/validated.ts";
import { atSection, type Joined } from "../publishing/validation.ts";
import { summaryOf } from "../reading/summary.ts";
import * as store from "../store.ts";
import type { RunTask } from "../tasks.ts";

/** The section of the file. */
export interface DeploymentSection {
  /** as JSON */
  input: string;
  /** environment variables that the file refers to */
  variables: Readonly<Record<string, string>>;
  /** @param pointers into the file @returns the line of each */
  linesOf(pointers: readonly string[]): Promise<readonly (number | undefined)[]>;
}

/** Maximum number of attempts to merge while others publish. */
const JOINS_MAX = 5;

export interface DeploymentOutcome {
  /**
   * - `bootstrap`: the first revision was published
   * - `deployed`: changes of the file or of the gateway setting were published
   * - `unchanged`: there was nothing to publish
   * - `kept`: file and dashboard are valid separately but not together (see `problems`), so the current revision stays
   */
  outcome: "bootstrap" | "deployed" | "unchanged" | "kept";
  /** the current revision */
  revision: string;
  /** every place that does not follow the file */
  conflicts: readonly string[];
  problems: readonly Problem[];
  /** ranges that no certified version satisfies; reported, not refused */
  warnings: readonly Problem[];
}

export class Deployments {
  constructor(private readonly parts: GovernanceParts) {}

  /** @returns every place where the deployment file is not followed, until file and dashboard agree */
  conflicts(organizationId: string): readonly string[] {
    return JSON.parse(store.conflictsText(this.parts.db.read, organizationId));
  }

  /**
   * Runs at every start. Without a section the first start publishes a default that allows every harness.
   * @throws DomainError `governance.invalid` for an invalid section, with lines; nothing has changed then
   */
  async apply(actor: Actor, section: DeploymentSection | undefined): Promise<DeploymentOutcome> {
    const wanted = section && (await this.#read(actor.organizationId, section));
    for (let attempt = 1; attempt <= JOINS_MAX; attempt += 1) {
      const outcome = await this.#join(actor, wanted);
      if (outcome) return outcome;
    }
    throw new DomainError("conflict", "governance.stale_revision", "the policy is changing too often", {
      hint: "reload the file while no one is publishing",
    });
  }

  /**
   * @returns the result that `apply` would have, without publishing; undefined before the first policy
   * @throws DomainError `governance.invalid`
   */
  async plan(
    organizationId: string,
    section: DeploymentSection,
  ): Promise<Pick<Joined, "conflicts" | "problems" | "isChanged"> | undefined> {
    const wanted = await this.#read(organizationId, section);
    const { current, joined } = await this.#joined(organizationId, wanted);
    return current && joined;
  }

  async #joined(organizationId: string, wanted: string | undefined) {
    const { db, revisions, runTask } = this.parts;
    const current = revisions.current(organizationId);
    const joined = await runTask("join", {
      current: current && (await documentText(current)),
      known: store.findDeployment(db.read, organizationId),
      wanted,
      frame: this.#frame(),
    });
    return { current, joined };
  }

  #frame(): FinalizeContext {
    const { publisher, settings } = this.parts;
    return publisher.frame({ gateway: settings.gatewayType !== undefined });
  }

  /** @returns the document without stamps, as JSON */
  #read(organizationId: string, section: DeploymentSection): Promise<string> {
    const { catalog, runTask } = this.parts;
    const findProblems: SectionChecking["findProblems"] = (references) =>
      artifactProblems(catalog, organizationId, references);
    return readSection(section, { frame: this.#frame(), runTask, findProblems });
  }

  /** @returns undefined if another author has published since */
  async #join(actor: Actor, wanted: string | undefined): Promise<DeploymentOutcome | undefined> {
    const { db, settings } = this.parts;
    const { organizationId } = actor;
    const { current, joined } = await this.#joined(organizationId, wanted);
    if (!current) refuseProblems(joined.problems);
    const { conflicts, problems } = joined;
    const document = await parseInTurn(joined.document);
    const warnings = [...joined.warnings, ...uploadWarningsOf(document, settings.presignUrl())];
    const findings = { conflicts, problems, warnings };
    if (current && problems.length > 0) return { outcome: "kept", revision: current.id, ...findings };
    const audiences = current ? carryOverAudiences(current.audiences, document.packages) : {};
    const isNew = !current || joined.isChanged;
    const summary = isNew ? await runInTurns(summaryOf(current, { document, audiences })) : "";
    await setImmediate();
    return await db.write((tx): DeploymentOutcome | undefined => {
      if (store.newestId(tx, organizationId) !== current?.id) return undefined;
      const { document: text, changed } = joined;
      const next = { ...authorship(current), document, text, changed, summary, base: current };
      const { id } = isNew ? this.parts.publisher.add(tx, actor, { ...next, audiences }) : current;
      if (wanted !== undefined || !current) this.#remember(tx, actor, joined);
      return { outcome: outcomeOf(current, joined), revision: id, ...findings };
    }, "governance");
  }

  #remember(tx: Tx, { organizationId }: Actor, what: Pick<store.Deployment, "baseline" | "conflicts">): void {
    const { baseline, conflicts } = what;
    store.putDeployment(tx, { baseline, conflicts, organizationId, updatedAtMs: this.parts.clock.nowMs() });
  }
}

export interface SectionChecking {
  frame: FinalizeContext;
  runTask: RunTask;
  /** @returns problems of the archives that the section names */
  findProblems(references: readonly ArtifactReference[]): Steps<Problem[]>;
}

/**
 * @returns the document without stamps, as JSON
 * @throws DomainError `governance.invalid`, with lines
 */
export async function readSection(
  { linesOf, ...section }: DeploymentSection,
  { frame, runTask, findProblems }: SectionChecking,
): Promise<string> {
  const { before, after, references, document } = await runTask("section", { ...section, frame });
  const archives = await runInTurns(findProblems(references));
  const problems = [...before, ...archives, ...after].map(atSection);
  if (problems.length === 0) return document;
  const lines = await linesOf(problems.map(({ pointer }) => pointer));
  refuseProblems(
    problems.map((problem, at) => ({ ...problem, ...(lines[at] !== undefined && { line: lines[at] }) })),
  );
  return document;
}

const authorship = (current: Revision | undefined) =>
  current
    ? ({ origin: "deployment", action: "policy.deploy" } as const)
    : ({ origin: "bootstrap", action: "policy.bootstrap" } as const);

function outcomeOf(current: Revision | undefined, { isChanged }: Joined): DeploymentOutcome["outcome"] {
  if (!current) return "bootstrap";
  return isChanged ? "deployed" : "unchanged";
}
