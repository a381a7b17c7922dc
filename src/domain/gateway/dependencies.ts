// What the gateway area is given when domain.ts joins the parts. Each file of the area takes what it needs from here.
import type { Clock } from "../../platform/clock.ts";
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Connection, Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Identity } from "../identity/service.ts";
import type { Provisioner, ProvisionerCode } from "./provisioners/provisioner.ts";
import type { GatewaySettings } from "./settings.ts";

/** One call of a provisioner, for metrics and log; the diagnosis has no secrets. */
export interface ProvisionerCall {
  operation: "provision" | "revoke";
  outcome: "succeeded" | ProvisionerCode;
  durationMs: number;
  userId: string;
  /** of whoever asked, where it was a request: what people quote from an answer */
  requestId?: string | undefined;
  diagnosis?: string;
}

/** Gateway mode as it is switched on. */
export interface GatewayMode {
  settings: GatewaySettings;
  provisioner: Provisioner;
  /** changes with all that a new reconciliation of every key follows from */
  configurationDigest: string;
}

export type AttemptOwner = "service" | "command";

export interface GatewayDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  sealing: Sealing;
  identity: Identity;
  /** @returns names of the user's groups, ordered without case */
  groupsOf(connection: Connection, userId: string): readonly string[];
  /** undefined where gateway mode is off */
  mode: GatewayMode | undefined;
  /** who makes the attempts of this process: the service may take over those of a service before it */
  attemptsBy: AttemptOwner;
  observe(call: ProvisionerCall): void;
}
