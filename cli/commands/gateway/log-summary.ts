// `gateway logs summary`: figures of the request log, from its file, whether or not the service runs.
import type { SummaryView } from "../../../src/domain/inference/log/request-logs.ts";
import type { Bucket } from "../../../src/domain/inference/log/summary/model.ts";
import type { Figures } from "../../../src/domain/inference/log/summary/tally.ts";
import { toRequestLogSummary } from "../../../src/domain/inference/log/summary/wire.ts";
import { dayOf, dayText } from "../../../src/domain/inference/usage/model.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import type { Column } from "../../output/table.ts";
import { filterOf } from "./log-reading.ts";

interface Line {
  /** undefined if the line is for a period */
  name?: string;
  atMs?: number;
  figures: Figures;
}

const FIGURES: readonly Column<Line>[] = [
  { header: "REQUESTS", value: ({ figures }) => figures.requests },
  { header: "REFUSED", value: ({ figures }) => figures.refused },
  { header: "CLIENT ERRORS", value: ({ figures }) => figures.results.client_error },
  { header: "SERVER ERRORS", value: ({ figures }) => figures.results.server_error },
  { header: "NO RESPONSE", value: ({ figures }) => figures.results.transport_error },
  { header: "P50 MS", value: ({ figures }) => figures.p50Ms },
  { header: "P95 MS", value: ({ figures }) => figures.p95Ms },
  { header: "SUCCESS", value: ({ figures }) => figures.results.success, isWide: true },
  { header: "REDIRECT", value: ({ figures }) => figures.results.redirect, isWide: true },
];

export async function summary(call: Call): Promise<void> {
  const { domain, output, text } = call;
  const by = text("by");
  const view = domain.requestLogs.summaryNow({
    ...filterOf(call),
    q: text("q"),
    bucket: text("bucket"),
    by: by === undefined ? [] : [by],
  });
  if (output.isJson) return output.result(toRequestLogSummary(view), "");
  const first: Column<Line> =
    by === undefined
      ? { header: view.bucket.toUpperCase(), value: ({ atMs }) => pointText(atMs ?? 0, view.bucket) }
      : { header: by.toUpperCase(), value: ({ name }) => name ?? null };
  const columns = [first, ...FIGURES];
  output.list(linesOf(view, by), { columns, json: (line) => line, empty: "no requests in this period" });
}

/** @returns `2026-01-31`, or `2026-01-31T05:00Z` */
const pointText = (atMs: number, bucket: Bucket): string =>
  bucket === "day" ? dayText(dayOf(atMs)) : toRfc3339(atMs).replace(/:\d\d\.\d+Z$/, "Z");

const linesOf = ({ points, models, users }: SummaryView, by: string | undefined): Line[] => {
  if (by === undefined)
    return points.flatMap(({ atMs, ...figures }) => (figures.requests > 0 ? [{ atMs, figures }] : []));
  return by === "model"
    ? models.map(({ name, figures }) => ({ ...(name !== "" && { name }), figures }))
    : users.map(({ email, figures }) => ({ name: email, figures }));
};
