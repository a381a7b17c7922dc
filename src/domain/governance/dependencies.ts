// What the governance area is given when domain.ts joins the parts, and what its own files share.
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Catalog } from "../catalog/service.ts";
import type { HarnessFacts } from "../harness-facts.ts";
import type { Identity } from "../identity/service.ts";
import type { Publisher } from "./publisher.ts";
import type { Revisions } from "./revisions.ts";
import type { RunTask } from "./work.ts";

export interface GovernanceSettings {
  /** undefined where gateway mode is off */
  gatewayType: "litellm" | undefined;
  /** SemVer of this program */
  serverVersion: string;
}

export interface GovernanceDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Identity;
  catalog: Catalog;
  harnesses: Pick<HarnessFacts, "inForce" | "harnesses">;
  settings: GovernanceSettings;
  runTask: RunTask;
}

export interface GovernanceParts extends GovernanceDependencies {
  revisions: Revisions;
  publisher: Publisher;
}
