// Dependencies of the governance area, supplied by domain.ts. parts.ts adds the area's own shared parts.
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Catalog } from "../catalog/service.ts";
import type { HarnessFacts } from "../harnesses/harness-facts.ts";
import type { Identity } from "../identity/service.ts";
import type { UserGroups } from "../shared/user-groups.ts";
import type { RunTask } from "./tasks.ts";

export interface GovernanceSettings {
  /** undefined if gateway mode is off */
  gatewayType: "litellm" | undefined;
  /** SemVer of this program */
  serverVersion: string;
  /** the URL that `session_upload` should name; undefined if our origin is not known */
  presignUrl(): string | undefined;
  /** whether another administrator must publish an administrator's draft */
  requiresSecondAdministrator(): boolean;
}

export interface GovernanceDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Identity;
  catalog: Catalog;
  harnesses: Pick<HarnessFacts, "inForce" | "harnesses">;
  userGroups: UserGroups;
  settings: GovernanceSettings;
  runTask: RunTask;
}
