// The state of a model in the catalog, and how the gateway's list changes the rows. Pure functions; settle.ts applies them.
import type { JsonObject } from "../../../platform/json/json-object.ts";
import type { ListedModel } from "../../gateway/service.ts";
import type { gatewayModelSync, gatewayModels } from "./tables.ts";

export type ModelRow = typeof gatewayModels.$inferSelect;
export type SyncRow = typeof gatewayModelSync.$inferSelect;

/** Maximum number of models that are neither offered nor assigned; the oldest are removed first. */
export const REMOVED_KEPT_MAX = 1_000;

/**
 * `available`: unchanged since it was acknowledged. `changed`: its name or metadata differ from what was acknowledged. `removed`:
 * the gateway no longer offers it. `unknown`: it is assigned, and the gateway never offered it.
 */
export const MODEL_STATES = ["available", "changed", "removed", "unknown"] as const;
export type ModelState = (typeof MODEL_STATES)[number];

/** @returns the state; a model without a row is known only because it is assigned */
export function stateOf(row: ModelRow | undefined): ModelState {
  if (!row) return "unknown";
  if (row.unavailableSinceMs !== null) return "removed";
  return row.fingerprint === row.acknowledgedFingerprint ? "available" : "changed";
}

/** @returns the row of a new model, which counts as acknowledged */
export const newRow = (organizationId: string, model: ListedModel, nowMs: number): ModelRow => ({
  organizationId,
  ...described(model),
  acknowledgedFingerprint: model.fingerprint,
  acknowledged: acknowledgedText(model),
  firstSeenAtMs: nowMs,
  lastSeenAtMs: nowMs,
});

/** The facts of a model that an administrator accepted. */
export interface AcknowledgedModel {
  display_name: string | null;
  metadata: JsonObject | null;
}

const acknowledgedText = ({ displayName, metadata }: Pick<ListedModel, "displayName" | "metadata">): string =>
  JSON.stringify({ display_name: displayName, metadata } satisfies AcknowledgedModel);

/** @returns the row after an administrator accepted the model's current facts */
export const acknowledgedRow = (row: ModelRow): ModelRow => ({
  ...row,
  acknowledgedFingerprint: row.fingerprint,
  acknowledged: acknowledgedText({
    displayName: row.displayName,
    metadata: row.metadata === null ? null : JSON.parse(row.metadata),
  }),
});

/** @returns the row after the gateway offered the model again; undefined if nothing changes */
export const offeredAgain = (row: ModelRow, model: ListedModel): ModelRow | undefined =>
  row.unavailableSinceMs === null && row.fingerprint === model.fingerprint
    ? undefined
    : {
        ...row,
        ...described(model),
        ...(row.acknowledgedFingerprint === model.fingerprint && { acknowledged: acknowledgedText(model) }),
      };

const described = ({ id, displayName, metadata, fingerprint }: ListedModel) => ({
  id,
  displayName,
  metadata: metadata === null ? null : JSON.stringify(metadata),
  fingerprint,
  unavailableSinceMs: null,
});

/** @returns the row after the gateway's list lacks the model; undefined if it already did */
export const noLongerOffered = (
  row: ModelRow,
  { lastSeenAtMs, nowMs }: { lastSeenAtMs: number | null; nowMs: number },
): ModelRow | undefined =>
  row.unavailableSinceMs === null
    ? { ...row, lastSeenAtMs: lastSeenAtMs ?? row.lastSeenAtMs, unavailableSinceMs: nowMs }
    : undefined;

/** @returns whether the provisioner can list models; null if unknown */
export const isSupported = (sync: Pick<SyncRow, "discoverySupported"> | undefined): boolean | null =>
  sync?.discoverySupported == null ? null : sync.discoverySupported === 1;

/** @returns whether the last success is older than two intervals; false if no refresh has succeeded yet */
export const isStale = (
  sync: Pick<SyncRow, "succeededAtMs"> | undefined,
  { nowMs, intervalMs }: { nowMs: number; intervalMs: number },
): boolean => sync?.succeededAtMs != null && nowMs - sync.succeededAtMs > 2 * intervalMs;

/**
 * @returns whether a later refresh is already stored. Ignores a time in the future, which was stored before the clock was set back
 */
export const isSuperseded = (
  sync: Pick<SyncRow, "refreshedAtMs"> | undefined,
  { beganAtMs, nowMs }: { beganAtMs: number; nowMs: number },
): boolean => sync !== undefined && sync.refreshedAtMs > beganAtMs && sync.refreshedAtMs <= nowMs;
