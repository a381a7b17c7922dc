// The dependencies of the gateway area, provided by domain.ts. Each file of the area picks what it needs.
import type { Clock } from "../../platform/clock.ts";
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Connection, Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Identity } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import type { ListingCode } from "./provisioners/model-listing.ts";
import type { Provisioner, ProvisionerCode } from "./provisioners/provisioner.ts";
import type { GatewaySettings } from "./settings.ts";

/** One call of a provisioner, for metrics and logs. The diagnosis contains no secrets. */
export interface ProvisionerCall {
  operation: "provision" | "revoke" | "list_models";
  outcome: "succeeded" | ProvisionerCode | ListingCode;
  durationMs: number;
  /** undefined for a list of models */
  userId?: string;
  /** id of the request that caused the call, so that a user's report can be matched to the log */
  requestId?: string | undefined;
  diagnosis?: string;
}

/** The parts that exist only in gateway mode. */
export interface GatewayMode {
  settings: GatewaySettings;
  provisioner: Provisioner;
  /** see configuration-digest.ts; a change makes every key due */
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
  /** @returns names of the user's groups, in case-insensitive order */
  groupsOf(connection: Connection, userId: string): readonly string[];
  /** undefined when gateway mode is off */
  mode: GatewayMode | undefined;
  /** owner of this process's attempts; a new service process may take over those of its predecessor */
  attemptsBy: AttemptOwner;
  observe(call: ProvisionerCall): void;
  /**
   * Requires a confirmed browser session before a key is replaced; access provides it.
   * @throws DomainError `access.confirmation_needed`, `access.second_factor_enrollment_needed`
   */
  requireConfirmation(connection: Connection, actor: Actor): void;
}
