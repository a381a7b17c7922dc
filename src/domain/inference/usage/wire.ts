// Usage as the API and the commands show it.
import { type Static, Type } from "@sinclair/typebox";
import { GROUPS, type Sums, type UsageEntry } from "./model.ts";
import type { UsageReport } from "./usage-report.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const sums = {
  requests: count("without refused ones"),
  refused: count("requests that this service refused"),
  input_tokens: count("as the upstream reported them"),
  output_tokens: count("as the upstream reported them"),
  cache_read_tokens: count("as the upstream reported them"),
  cache_write_tokens: count("as the upstream reported them"),
  cost: Type.Number({ minimum: 0, description: "US dollars, as the upstream reported them" }),
};

const Entry = Type.Object({
  key: Type.Union([Type.String(), Type.Null()], {
    description: "id of the user, name of the model or agent, or day; null where it is unknown or erased",
  }),
  user_email: Type.Optional(
    Type.String({
      format: "email",
      description: "with `group_by=user`; `removed@invalid` for a removed user",
    }),
  ),
  ...sums,
});

/** Sums of a period. */
export const UsageDocument = Type.Object({
  from: Type.String({ format: "date" }),
  to: Type.String({ format: "date" }),
  group_by: Type.Unsafe<(typeof GROUPS)[number]>({ type: "string", enum: GROUPS }),
  items: Type.Array(Entry),
  totals: Type.Object(sums, { description: "totals of all entries, including omitted ones" }),
  truncated: Type.Boolean({ description: "there are more entries than `items`" }),
});

/** @returns the report as the API and the commands show it */
export const toUsageDocument = (report: UsageReport): Static<typeof UsageDocument> => ({
  from: report.from,
  to: report.to,
  group_by: report.group,
  items: report.entries.map(toEntry),
  totals: toSums(report.totals),
  truncated: report.isTruncated,
});

const toEntry = ({ key, userEmail, ...entry }: UsageEntry): Static<typeof Entry> => ({
  key,
  ...(userEmail !== undefined && { user_email: userEmail }),
  ...toSums(entry),
});

const toSums = (from: Sums) => ({
  requests: from.requests,
  refused: from.refused,
  input_tokens: from.inputTokens,
  output_tokens: from.outputTokens,
  cache_read_tokens: from.cacheReadTokens,
  cache_write_tokens: from.cacheWriteTokens,
  cost: from.cost,
});
