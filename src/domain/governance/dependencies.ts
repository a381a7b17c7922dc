// What the governance area is given when domain.ts joins the parts. What its own files share besides is in parts.ts.
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Catalog } from "../catalog/service.ts";
import type { HarnessFacts } from "../harnesses/harness-facts.ts";
import type { Identity } from "../identity/service.ts";
import type { RunTask } from "./tasks.ts";

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
