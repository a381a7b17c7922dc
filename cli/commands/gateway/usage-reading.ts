// `gateway usage`: prints the daily sums of inference usage.
import type { UsageEntry } from "../../../src/domain/inference/usage/model.ts";
import { toUsageDocument } from "../../../src/domain/inference/usage/wire.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import type { Column } from "../../output/table.ts";
import { userIdOf } from "./log-reading.ts";
import { daysOf } from "./period.ts";

const SUMS: readonly Column<UsageEntry>[] = [
  { header: "FORWARDED", value: ({ requests }) => requests },
  { header: "REFUSED", value: ({ refused }) => refused },
  { header: "INPUT", value: ({ inputTokens }) => inputTokens },
  { header: "OUTPUT", value: ({ outputTokens }) => outputTokens },
  { header: "COST", value: ({ cost }) => cost.toFixed(2) },
  { header: "CACHE READ", value: ({ cacheReadTokens }) => cacheReadTokens, isWide: true },
  { header: "CACHE WRITE", value: ({ cacheWriteTokens }) => cacheWriteTokens, isWide: true },
];

export async function usage(call: Call): Promise<void> {
  const { domain, actor, output, text } = call;
  const groupBy = text("by");
  const wanted = { ...daysOf(call), groupBy, userId: userIdOf(call) };
  const report = runSynchronously(domain.usageReports.report(actor.organizationId, wanted));
  const document = toUsageDocument(report);
  if (output.isJson) return output.result(document, "");
  const name = { header: report.group.toUpperCase(), value: nameOf };
  const columns = [name, ...SUMS];
  output.list(report.entries, { columns, json: (entry) => entry, empty: "no usage in this period" });
  if (report.isTruncated)
    output.warning(`showing the first ${report.entries.length} entries; shorten the period`);
}

const nameOf = ({ key, userEmail }: UsageEntry): string | null => userEmail ?? key;
