// Tables of policy revisions and of the last version of the deployment file; migrations define constraints and indexes.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const governanceRevisions = sqliteTable("governance_revisions", {
  /** the highest number is the current revision */
  sequence: integer("sequence").primaryKey({ autoIncrement: true }),
  id: text("id").notNull(),
  organizationId: text("organization_id").notNull(),
  /** JSON */
  document: text("document").notNull(),
  /** JSON, by package id */
  audiences: text("audiences").notNull(),
  origin: text("origin", { enum: ["bootstrap", "deployment", "dashboard", "operator"] }).notNull(),
  authorId: text("author_id"),
  authorLabel: text("author_label").notNull(),
  comment: text("comment"),
  createdAtMs: integer("created_at_ms").notNull(),
  /** short summary of its changes */
  summary: text("summary"),
});

export const governanceDeployments = sqliteTable("governance_deployments", {
  organizationId: text("organization_id").primaryKey(),
  /** JSON: the document of the last version of the deployment file */
  baseline: text("baseline").notNull(),
  /** JSON: paths where the dashboard differs from the file */
  conflicts: text("conflicts").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
});

export const policyDrafts = sqliteTable("policy_drafts", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  /** an administrator has one draft */
  ownerId: text("owner_id").notNull(),
  baseRevision: text("base_revision").notNull(),
  /** JSON */
  document: text("document").notNull(),
  /** JSON, by package id */
  audiences: text("audiences").notNull(),
  /** JSON: the typed texts */
  typed: text("typed").notNull(),
  isShared: integer("is_shared", { mode: "boolean" }).notNull(),
  version: integer("version").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  savedAtMs: integer("saved_at_ms").notNull(),
  /** number of places that differ from the base revision; null if an older version of the service saved it */
  changes: integer("changes"),
});

/** Triggers maintain it. */
export const policyDraftVersions = sqliteTable("policy_draft_versions", {
  organizationId: text("organization_id").primaryKey(),
  /** the highest version of a removed draft or package addition */
  removed: integer("removed").notNull(),
});

export const packageAdditions = sqliteTable("package_additions", {
  /** an administrator adds one package at a time */
  ownerId: text("owner_id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  /** JSON: the results of the steps so far */
  content: text("content").notNull(),
  version: integer("version").notNull(),
  savedAtMs: integer("saved_at_ms").notNull(),
});
