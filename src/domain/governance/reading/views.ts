// Revisions for administrators: complete responses as bytes, because writing a large document as YAML would make other callers
// wait too long. admin-view.ts and export.ts define their shapes.
import { LRUCache } from "lru-cache";
import { sha256Hex } from "../../../platform/ids.ts";
import type { HarnessKey } from "../../harnesses/harnesses.ts";
import { uploadWarningsOf } from "../delivery/upload-address.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import { documentText, policyText } from "../publishing/validated.ts";
import type { ChangeList } from "../shown/change-list.ts";
import type { ShownText } from "../shown/shown-text.ts";
import type { Place, ShownPlaces } from "../shown/shown-values.ts";
import type { TextHunk } from "../shown/text-difference.ts";
import * as store from "../store.ts";
import { type JsonBytes, revisionText } from "./admin-view.ts";
import type { Configuration, ManagedSources } from "./export.ts";

/** Maximum number of cached comparisons; each text has at most a few megabytes. */
const TEXT_DIFFERENCES_KEPT = 4;

/** A revision, whose document never changes, or a version of a draft. */
interface Written {
  id: string;
  version?: number;
  document: GovernanceConfig;
}

export class Views {
  readonly #textDifferences = new LRUCache<string, Promise<TextHunk[] | undefined>>({
    max: TEXT_DIFFERENCES_KEPT,
  });

  constructor(private readonly parts: Pick<GovernanceParts, "db" | "runTask" | "settings">) {}

  /**
   * @returns a tag of the content of `adminConfig`: the id of the revision and, after a dot, a digest of parts that change
   * without a new revision, if there are any: conflicts with the deployment file, and warnings about the upload URL
   */
  adminVersion({ id, organizationId, document }: Revision): string {
    const conflicts = store.conflictsText(this.parts.db.read, organizationId);
    const warnings = JSON.stringify(uploadWarningsOf(document, this.parts.settings.presignUrl()));
    const more = [conflicts, warnings].filter((list) => list !== "[]").join("\n");
    return more === "" ? id : `${id}.${sha256Hex(more).slice(0, 8)}`;
  }

  /** @returns an AdminConfig as JSON */
  adminConfig(revision: Revision): Promise<JsonBytes> {
    const conflicts = store.conflictsText(this.parts.db.read, revision.organizationId);
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

  /** @returns the whole document as YAML, in the format that `policy apply` accepts */
  async text(revision: Pick<Revision, "document">): Promise<string> {
    return this.parts.runTask("wholeText", { document: await documentText(revision) });
  }

  /** @param isHidden whether secrets are hidden @returns the first lines of the same text */
  async shownText(revision: Pick<Revision, "document">, isHidden: boolean): Promise<ShownText> {
    return this.parts.runTask("shownText", { document: await documentText(revision), isHidden });
  }

  /**
   * @param isInWords whether to write values as words, without the content of mappings
   * @returns the texts of values, in a thread if they are long
   */
  shownPlaces(
    places: readonly Place[],
    { isHidden, isInWords = false }: { isHidden: boolean; isInWords?: boolean },
  ): Promise<ShownPlaces> {
    return this.parts.runTask("shownPlaces", { places: JSON.stringify(places), isHidden, isInWords });
  }

  /** @param isHidden see changeListOf @returns every place where two revisions differ, audiences included */
  async difference(before: Revision, after: Revision, isHidden = false): Promise<ChangeList> {
    const sides = { before: await policyText(before), after: await policyText(after) };
    return await this.parts.runTask("difference", { ...sides, isHidden });
  }

  /**
   * Caches the last results, because an administrator opens the review of a draft and then publishes from it.
   * @param isHidden see shownText
   * @returns the lines in which two policies differ as text; undefined if there are too many to compare
   */
  textDifference(before: Written, after: Written, isHidden = false): Promise<TextHunk[] | undefined> {
    const key = [before.id, after.id, after.version, isHidden].join();
    const known = this.#textDifferences.get(key);
    if (known) return known;
    const found = this.#compareTexts(before, after, isHidden);
    this.#textDifferences.set(key, found);
    found.catch(() => this.#textDifferences.delete(key));
    return found;
  }

  async #compareTexts(before: Written, after: Written, isHidden: boolean): Promise<TextHunk[] | undefined> {
    const texts = { before: await documentText(before), after: await documentText(after) };
    return this.parts.runTask("textDifference", { ...texts, isHidden });
  }

  /** @returns the settings of a harness as YAML, in a thread if they are long; empty for none */
  settingsText(settings: object): Promise<string> {
    return this.parts.runTask("settingsText", JSON.stringify(settings));
  }
}
