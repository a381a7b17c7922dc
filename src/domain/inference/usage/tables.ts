// Tables of the daily sums of usage. Constraints and indexes are in the migrations.
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const inferenceUsage = sqliteTable(
  "inference_usage",
  {
    organizationId: text("organization_id").notNull(),
    /** days since 1970-01-01 in UTC */
    day: integer("day").notNull(),
    /** empty after the user was erased; not a reference, because sums outlive a user */
    userId: text("user_id").notNull(),
    /** empty if unknown */
    model: text("model").notNull(),
    /** empty if unknown */
    harness: text("harness").notNull(),
    requests: integer("requests").notNull(),
    refused: integer("refused").notNull(),
    inputTokens: integer("input_tokens").notNull(),
    outputTokens: integer("output_tokens").notNull(),
    cacheReadTokens: integer("cache_read_tokens").notNull(),
    cacheWriteTokens: integer("cache_write_tokens").notNull(),
    cost: real("cost").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.day, table.userId, table.model, table.harness] }),
  ],
);

/** One row: the last batch that was taken from the file of the request log. */
export const inferenceUsageBatch = sqliteTable("inference_usage_batch", {
  onlyRow: integer("only_row").primaryKey(),
  batch: text("batch").notNull(),
});
