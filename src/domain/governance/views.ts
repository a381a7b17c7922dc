// A revision as administrators read it: whole answers as bytes, because writing a large document as YAML takes longer
// than others should wait. Their shapes are admin-view.ts's and export.ts's.
import type { HarnessKey } from "../harnesses.ts";
import { type JsonBytes, revisionText } from "./admin-view.ts";
import type { GovernanceParts } from "./dependencies.ts";
import type { Configuration } from "./export.ts";
import type { Revision } from "./model.ts";
import * as store from "./store.ts";

export class Views {
  constructor(private readonly parts: Pick<GovernanceParts, "db" | "runTask">) {}

  /** @returns an AdminConfig as JSON */
  adminConfig(revision: Revision): Promise<JsonBytes> {
    const conflicts = store.conflictsOf(this.parts.db.read, revision.organizationId);
    return this.parts.runTask("adminConfig", { ...revisionText(revision), conflicts });
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
  exported({ document }: Revision, configuration: Configuration | undefined): Promise<JsonBytes> {
    return this.parts.runTask("exported", { document: JSON.stringify(document), configuration });
  }
}
