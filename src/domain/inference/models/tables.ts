// Tables of the model catalog: the models that were listed, and the state of refreshing. Constraints are in the migrations.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const gatewayModels = sqliteTable(
  "gateway_models",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    displayName: text("display_name"),
    /** JSON */
    metadata: text("metadata"),
    fingerprint: text("fingerprint").notNull(),
    acknowledgedFingerprint: text("acknowledged_fingerprint").notNull(),
    /** JSON of an AcknowledgedModel; null if the model had changed before this was stored */
    acknowledged: text("acknowledged"),
    firstSeenAtMs: integer("first_seen_at_ms").notNull(),
    /** for a model that is no longer offered; the last successful refresh has seen every offered model */
    lastSeenAtMs: integer("last_seen_at_ms").notNull(),
    /** null while the model is offered */
    unavailableSinceMs: integer("unavailable_since_ms"),
  },
  ({ organizationId, id }) => [primaryKey({ columns: [organizationId, id] })],
);

export const gatewayModelSync = sqliteTable("gateway_model_sync", {
  organizationId: text("organization_id").primaryKey(),
  /** when the last refresh began */
  refreshedAtMs: integer("refreshed_at_ms").notNull(),
  succeededAtMs: integer("succeeded_at_ms"),
  sourceRevision: text("source_revision"),
  /** why the last refresh failed; null if it did not */
  problem: text("problem"),
  problemAtMs: integer("problem_at_ms"),
  /** 0 or 1; null before the first response. Not a boolean column, which would store null as false */
  discoverySupported: integer("discovery_supported"),
});
