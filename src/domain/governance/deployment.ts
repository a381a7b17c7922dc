// The deployment file as a second author: at every start, and when the operator has the file read again, its section
// `governance` is joined with what is in force, in one transaction. Where both disagree the dashboard stays, and the
// place is kept and shown until they agree (control-api.md sections 5.4 and 20 item 33).
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "../actor.ts";
import type { Problem } from "../errors.ts";
import { sourceWarningsOf } from "./artifacts.ts";
import { carriedOver } from "./audiences.ts";
import { readAuthored, type Variable } from "./authored.ts";
import type { GovernanceParts } from "./dependencies.ts";
import { checkRanges } from "./document/read.ts";
import { safeDefault } from "./document/safe-default.ts";
import { refuseProblems } from "./errors.ts";
import { mergeDocuments, standingConflicts } from "./merge.ts";
import type { GovernanceConfig, Revision } from "./model.ts";
import { authored, isSameDocument } from "./publisher.ts";
import * as store from "./store.ts";

/** The section as the file has it. */
export interface DeploymentSection {
  input: unknown;
  variable: Variable;
  /** @returns the line of a pointer into the file */
  lineOf(pointer: string): number | undefined;
}

export interface DeploymentOutcome {
  /**
   * - `bootstrap`: the first revision was published
   * - `deployed`: changes of the file, or of the gateway setting, were published
   * - `unchanged`: there was nothing to publish
   * - `kept`: file and dashboard are each sound but not together (see `problems`); what was in force still is
   */
  outcome: "bootstrap" | "deployed" | "unchanged" | "kept";
  /** in force now */
  revision: string;
  /** every place where the file is not followed */
  conflicts: readonly string[];
  problems: readonly Problem[];
  /** ranges that no certified version satisfies; told, not refused */
  warnings: readonly Problem[];
}

export class Deployments {
  constructor(private readonly parts: GovernanceParts) {}

  /** @returns every place where the deployment file is not followed, until file and dashboard agree */
  conflicts(organizationId: string): readonly string[] {
    return store.findDeployment(this.parts.db.read, organizationId)?.conflicts ?? [];
  }

  /**
   * Run at every start. Without a section the first start publishes a default that lets every harness run.
   * @throws DomainError `governance.invalid` for a bad section, with lines; then nothing has changed
   */
  async apply(actor: Actor, section: DeploymentSection | undefined): Promise<DeploymentOutcome> {
    const wanted = section && this.#read(actor.organizationId, section);
    return await this.parts.db.write((tx) => {
      const [current] = store.newestRevisions(tx, actor.organizationId, 1);
      return current ? this.#join(tx, actor, { current, wanted }) : this.#begin(tx, actor, wanted);
    }, "governance");
  }

  #hasGateway(): boolean {
    return this.parts.settings.gatewayType !== undefined;
  }

  #read(organizationId: string, { input, variable, lineOf }: DeploymentSection): GovernanceConfig {
    const { catalog, publisher } = this.parts;
    const finish = (document: GovernanceConfig, found: Problem[]) =>
      publisher.finishAsIs(document, { gateway: this.#hasGateway(), problems: found });
    const { document, problems } = readAuthored({ catalog, finish }, organizationId, { input, variable });
    const located = problems.map(({ pointer, detail }) => {
      const inFile = `/governance${pointer}`;
      const line = lineOf(inFile);
      return { pointer: inFile, detail, ...(line === undefined ? {} : { line }) };
    });
    refuseProblems(located);
    return document;
  }

  #begin(tx: Tx, actor: Actor, wanted: GovernanceConfig | undefined): DeploymentOutcome {
    const baseline = wanted ?? authored(safeDefault());
    const problems: Problem[] = [];
    const document = this.parts.publisher.finishAsIs(baseline, { gateway: this.#hasGateway(), problems });
    refuseProblems(problems);
    const next = {
      document,
      audiences: {},
      base: undefined,
      origin: "bootstrap",
      action: "policy.bootstrap",
    } as const;
    const { id } = this.parts.publisher.add(tx, actor, next);
    this.#remember(tx, actor, { baseline, conflicts: [] });
    return { outcome: "bootstrap", revision: id, conflicts: [], problems, warnings: warningsOf(document) };
  }

  #join(
    tx: Tx,
    actor: Actor,
    { current, wanted }: { current: Revision; wanted: GovernanceConfig | undefined },
  ): DeploymentOutcome {
    const known = store.findDeployment(tx, actor.organizationId);
    const baseline = known?.baseline ?? authored(safeDefault());
    const before = authored(current.document);
    const { merged, conflicts: found } = mergeDocuments({
      baseline,
      current: before,
      wanted: wanted ?? baseline,
    });
    const sides = { current: merged, wanted: wanted ?? baseline };
    const conflicts = standingConflicts([...(known?.conflicts ?? []), ...found], sides);
    const problems: Problem[] = [];
    const document = this.parts.publisher.finishAsIs(merged, { gateway: this.#hasGateway(), problems });
    const warnings = warningsOf(document);
    if (problems.length > 0) return { outcome: "kept", revision: current.id, conflicts, problems, warnings };

    const isChanged = !isSameDocument(current.document, document);
    const { id } = isChanged ? this.#publish(tx, actor, { current, document }) : current;
    if (wanted) this.#remember(tx, actor, { baseline: wanted, conflicts });
    return { outcome: isChanged ? "deployed" : "unchanged", revision: id, conflicts, problems, warnings };
  }

  #publish(tx: Tx, actor: Actor, { current, document }: { current: Revision; document: GovernanceConfig }) {
    const audiences = carriedOver(current.audiences, document.packages);
    const next = {
      document,
      audiences,
      base: current,
      origin: "deployment",
      action: "policy.deploy",
    } as const;
    return this.parts.publisher.add(tx, actor, next);
  }

  #remember(tx: Tx, { organizationId }: Actor, what: Pick<store.Deployment, "baseline" | "conflicts">): void {
    store.putDeployment(tx, { ...what, organizationId, updatedAtMs: this.parts.clock.nowMs() });
  }
}

/** @returns what is published all the same and may keep workstations from a harness or an archive */
const warningsOf = (document: GovernanceConfig): Problem[] => [
  ...checkRanges(document),
  ...sourceWarningsOf(document),
];
