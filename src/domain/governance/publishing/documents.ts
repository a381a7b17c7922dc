// Complete documents from files, as operators apply them, with packages, MCP servers and overrides. Audiences are not part of a
// document and carry over.

import type { Problem } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import { sourceWarningsOf } from "../delivery/artifacts.ts";
import { carryOverAudiences } from "../delivery/audiences.ts";
import { uploadWarningsOf } from "../delivery/upload-address.ts";
import { refuseProblems } from "../errors.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import { type ReadVariable, readAuthoredText } from "./authored-document.ts";
import { type Change, diffDocuments, diffRevisions } from "./diff.ts";
import { finalizeDocument, isSameDocument } from "./finalize.ts";

export interface DocumentSource {
  /** YAML or JSON: a document, or a file with a section `governance` */
  text: string | Uint8Array;
  /** for references to the environment */
  variable: ReadVariable;
}

/** The effect of publishing a document. */
export interface DocumentPlan {
  /** the current revision */
  base: Revision;
  /** stamped */
  document: GovernanceConfig;
  /** compared with the current revision; empty if publishing would change nothing */
  changes: Change[];
  /** reasons why workstations may fail to get an archive or upload sessions, with pointers into the document */
  warnings: Problem[];
}

export class Documents {
  constructor(private readonly parts: GovernanceParts) {}

  /** @returns every problem that prevents publishing the document, with lines */
  check(organizationId: string, source: DocumentSource): Problem[] {
    return this.#read(organizationId, source).problems;
  }

  /** @throws DomainError `governance.invalid`, `governance.no_policy` */
  plan(organizationId: string, source: DocumentSource): DocumentPlan {
    const { document: written, stamped, problems } = this.#read(organizationId, source);
    refuseProblems(problems, { hint: "`quartermaster help policy-file` lists the members and their limits" });
    const base = this.parts.revisions.inForce(organizationId);
    if (!written || !stamped) return { base, document: base.document, changes: [], warnings: [] };
    const document = withFormerMinimum(written, { stamped, base: base.document });
    const presignUrl = this.parts.settings.presignUrl();
    const warnings = [...sourceWarningsOf(document), ...uploadWarningsOf(document, presignUrl)];
    if (isSameDocument(base.document, document)) return { base, document, changes: [], warnings };
    const audiences = carryOverAudiences(base.audiences, document.packages);
    return { base, document, changes: diffRevisions(base, { document, audiences }), warnings };
  }

  /**
   * Publishes the result of `plan`, unless another author has published since.
   * @throws DomainError `governance.stale_revision`, `governance.invalid`
   */
  async apply(
    actor: Actor,
    { base, document }: Pick<DocumentPlan, "base" | "document">,
    { comment }: { comment: string | undefined },
  ): Promise<Revision> {
    const audiences = carryOverAudiences(base.audiences, document.packages);
    const { publisher } = this.parts;
    if (isSameDocument(base.document, document)) return publisher.unchanged(base, { comment });
    const changed = diffDocuments(base.document, document).map(({ path }) => path);
    const action = "policy.apply";
    return await publisher.publish(actor, base, {
      document,
      text: JSON.stringify(document),
      changed,
      audiences,
      comment,
      action,
    });
  }

  #read(organizationId: string, source: DocumentSource) {
    const { catalog, publisher, revisions } = this.parts;
    const base = revisions.current(organizationId);
    const gateway = publisher.hasGateway({ kind: "operator" }, base);
    const finish = (document: GovernanceConfig, problems: Problem[]) =>
      finalizeDocument(document, { ...publisher.frame({ gateway }), base: base?.document, problems });
    return readAuthoredText({ catalog, finish }, organizationId, source);
  }
}

/** If the file names no client version, a newer program may have raised it since; the same file must remain the same policy. */
const withFormerMinimum = (
  written: GovernanceConfig,
  { stamped, base }: { stamped: GovernanceConfig; base: GovernanceConfig },
): GovernanceConfig => {
  const { minimum_client_version: former } = base;
  const isOurs = written.minimum_client_version === undefined && stamped.minimum_client_version !== undefined;
  return isOurs && former !== undefined ? { ...stamped, minimum_client_version: former } : stamped;
};
