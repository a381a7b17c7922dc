// The state of provisioning (SCIM-33): resources, last requests, and configuration without effect.
import type { Db } from "../../../platform/database/database.ts";
import { CANNOT_SIGN_IN_REMEDY, cannotSignInText } from "../../identity/service.ts";
import type { ScimTokens, ScimTokenView } from "../tokens/tokens.ts";
import type { Refusal, Refusals } from "./refusals.ts";
import * as store from "./status-store.ts";

export interface ScimStatus {
  users: number;
  /** how many of these users are suspended */
  suspendedUsers: number;
  groups: number;
  /** all except revoked ones; each with its last request */
  tokens: readonly ScimTokenView[];
  /** number of active users who cannot sign in */
  cannotSignIn: number;
  /** the last refusals, newest first */
  refusals: readonly Refusal[];
  /** sentences */
  warnings: readonly string[];
}

export interface ScimStatusDependencies {
  db: Db;
  tokens: Pick<ScimTokens, "list" | "hasActive">;
  refusals: Pick<Refusals, "list">;
  countCannotSignIn(organizationId: string): number;
  /** problems of the mapping of groups to roles (SCIM-23) */
  mappingWarnings(organizationId: string): readonly string[];
}

/** @returns the query; created once, in service.ts */
export const createScimStatus =
  ({ db, tokens, refusals, countCannotSignIn, mappingWarnings }: ScimStatusDependencies) =>
  (organizationId: string): ScimStatus => {
    const cannotSignIn = countCannotSignIn(organizationId);
    const warnings = [
      ...(tokens.hasActive() ? [] : [NO_TOKEN]),
      ...(cannotSignIn > 0 ? [`${cannotSignInText(cannotSignIn)}; ${CANNOT_SIGN_IN_REMEDY}`] : []),
      ...mappingWarnings(organizationId),
    ];
    return {
      ...store.countResources(db.read, organizationId),
      cannotSignIn,
      tokens: tokens.list(organizationId).filter(({ state }) => state !== "revoked"),
      refusals: refusals.list(organizationId),
      warnings,
    };
  };

const NO_TOKEN =
  "every SCIM request is refused: no token is active, neither scim.token in the configuration nor one created with `scim tokens create`";
