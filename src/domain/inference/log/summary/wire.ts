// A summary of the request log, as the API and the commands show it.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../../platform/clock.ts";
import type { SummaryView } from "../request-logs.ts";
import { BUCKETS, GROUPS_MAX, POINTS_MAX } from "./model.ts";
import type { Figures } from "./tally.ts";

const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
const latency = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description });

const figures = {
  requests: count("finished requests, including refused ones"),
  refused: count("by this service, before the upstream was asked"),
  success: count(),
  redirect: count(),
  client_error: count(),
  server_error: count(),
  transport_error: count("no status arrived"),
  p50_ms: latency(
    "median time until the upstream began to respond, of requests that reached it; at most 5 % off",
  ),
  p95_ms: latency("95th percentile of the same time"),
};

const Instant = Type.String({ format: "date-time" });
const Point = Type.Object({ at: Instant, ...figures });
const Group = Type.Object({
  model: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: "null for requests without a model" }),
  ),
  user_id: Type.Optional(Type.String({ format: "uuid" })),
  user_email: Type.Optional(Type.String({ description: "`removed@invalid` for a removed user" })),
  ...figures,
});

/** Figures of a period: for all requests, for each hour or day, and for models or users. */
export const RequestLogSummary = Type.Object({
  bucket: Type.Unsafe<(typeof BUCKETS)[number]>({ type: "string", enum: BUCKETS }),
  from: Instant,
  to: Type.String({ format: "date-time", description: "end of the last point" }),
  totals: Type.Object(figures),
  points: Type.Array(Point, {
    maxItems: POINTS_MAX,
    description: "including hours or days without requests",
  }),
  groups: Type.Array(Group, {
    maxItems: GROUPS_MAX,
    description: "most requests first; empty unless `by` is given",
  }),
});

const toFigures = ({ requests, refused, results, p50Ms, p95Ms }: Figures) => ({
  requests,
  refused,
  ...results,
  p50_ms: p50Ms,
  p95_ms: p95Ms,
});

/** @returns the summary as the API and the commands show it */
export const toRequestLogSummary = ({
  bucket,
  fromMs,
  endMs,
  totals,
  points,
  models,
  users,
}: SummaryView): Static<typeof RequestLogSummary> => ({
  bucket,
  from: toRfc3339(fromMs),
  to: toRfc3339(endMs),
  totals: toFigures(totals),
  points: points.map(({ atMs, ...point }) => ({ at: toRfc3339(atMs), ...toFigures(point) })),
  groups: [
    ...models.map(({ name, figures: sums }) => ({ model: name === "" ? null : name, ...toFigures(sums) })),
    ...users.map(({ name, email, figures: sums }) => ({
      user_id: name,
      user_email: email,
      ...toFigures(sums),
    })),
  ],
});
