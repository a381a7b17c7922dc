// A revision as administrators read it: complete answers as bytes, because writing a large document as YAML takes longer than
// other callers should wait. admin-view.ts and export.ts define their shapes.
import { sha256Hex } from "../../../platform/ids.ts";
import type { HarnessKey } from "../../harnesses/harnesses.ts";
import type { Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import type { Change } from "../publishing/diff.ts";
import { policyText } from "../publishing/judged.ts";
import * as store from "../store.ts";
import { type JsonBytes, revisionText } from "./admin-view.ts";
import type { Configuration, ManagedSources } from "./export.ts";
import type { TextHunk } from "./text-difference.ts";

export class Views {
  constructor(private readonly parts: Pick<GovernanceParts, "db" | "runTask" | "settings">) {}

  /**
   * @returns a name for the content of `adminConfig`: the id of the revision and, behind a dot, a digest of the conflicts with
   *   the deployment file if there are any, because these change without a new revision
   */
  adminVersion({ id, organizationId }: Pick<Revision, "id" | "organizationId">): string {
    const conflicts = store.conflictsOf(this.parts.db.read, organizationId);
    return conflicts.length === 0 ? id : `${id}.${sha256Hex(JSON.stringify(conflicts)).slice(0, 8)}`;
  }

  /** @returns an AdminConfig as JSON */
  adminConfig(revision: Revision): Promise<JsonBytes> {
    const conflicts = store.conflictsOf(this.parts.db.read, revision.organizationId);
    return this.parts.runTask("adminConfig", {
      ...revisionText(revision),
      conflicts,
      presignUrl: this.parts.settings.presignUrl(),
    });
  }

  /** @returns a HarnessManagedConfig as JSON */
  harnessConfig(revision: Revision, harness: HarnessKey): Promise<JsonBytes> {
    return this.parts.runTask("harnessConfig", { ...revisionText(revision), harness });
  }

  /** @returns HarnessManagedConfigs as JSON */
  harnessConfigs(revision: Revision): Promise<JsonBytes> {
    return this.parts.runTask("harnessConfigs", revisionText(revision));
  }

  /** @returns a DeploymentConfigExport as JSON */
  exported(
    { document }: Revision,
    configuration: Configuration | undefined,
    sources: ManagedSources,
  ): Promise<JsonBytes> {
    return this.parts.runTask("exported", { document: JSON.stringify(document), configuration, sources });
  }

  /**
   * @param isHidden whether the values of variables of MCP servers are hidden
   * @returns the whole document as YAML, in the format that `policy apply` accepts
   */
  text({ document }: Pick<Revision, "document">, isHidden = false): Promise<string> {
    return this.parts.runTask("wholeText", { document: JSON.stringify(document), isHidden });
  }

  /** @returns every place where two revisions differ, audiences included */
  async difference(before: Revision, after: Revision): Promise<Change[]> {
    if (before.id === after.id) return [];
    const sides = { before: await policyText(before), after: await policyText(after) };
    return await this.parts.runTask("difference", sides);
  }

  /**
   * @param isHidden as for text
   * @returns the lines in which two policies differ as text; undefined if there are too many to compare
   */
  textDifference(
    before: Pick<Revision, "document">,
    after: Pick<Revision, "document">,
    isHidden = false,
  ): Promise<TextHunk[] | undefined> {
    const texts = { before: JSON.stringify(before.document), after: JSON.stringify(after.document) };
    return this.parts.runTask("textDifference", { ...texts, isHidden });
  }

  /** @returns the settings of a harness as YAML, in a thread if they are long; empty for none */
  settingsText(settings: object): Promise<string> {
    return this.parts.runTask("settingsText", JSON.stringify(settings));
  }
}
